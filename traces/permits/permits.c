/* SPDX-License-Identifier: MIT */
/*
 * A shop of a thread for each connection. Buyers need one of two tills, a semaphore; readers need one of three copies of a book, a
 * pool of a mutex and a condition variable. Prints what the shop measured itself, of its steady part.
 *
 *     cc -O2 -o permits permits.c -lm && ./permits SECONDS
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 6, TILLS = 2, COPIES = 3, SIZE = 64 };

static const struct kind {
	const char *name;
	int permits, hold_us, think_us;
} kinds[] = { { "buyer", TILLS, 1500, 2500 }, { "reader", COPIES, 2500, 2500 } };

static struct shop {
	sem_t tills;
	pthread_mutex_t lock;
	pthread_cond_t returned;
	int copies;
} shop = { .lock = PTHREAD_MUTEX_INITIALIZER, .returned = PTHREAD_COND_INITIALIZER, .copies = COPIES };

struct seat {
	int fd, kind;
	unsigned short seed[3];
	double held;
	long requests;
};

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}

static void work(double us)
{
	double end = now(CLOCK_THREAD_CPUTIME_ID) + us / 1e6;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end) {
	}
}

static void sleep_about(double us, unsigned short *seed)
{
	usleep((unsigned) (-us * log(1 - erand48(seed))));
}

static void take(int kind)
{
	if (kind == 0) {
		sem_wait(&shop.tills);
		return;
	}
	pthread_mutex_lock(&shop.lock);
	while (shop.copies == 0) {
		pthread_cond_wait(&shop.returned, &shop.lock);
	}
	shop.copies--;
	pthread_mutex_unlock(&shop.lock);
}

static void give(int kind)
{
	if (kind == 0) {
		sem_post(&shop.tills);
		return;
	}
	pthread_mutex_lock(&shop.lock);
	shop.copies++;
	pthread_cond_signal(&shop.returned);
	pthread_mutex_unlock(&shop.lock);
}

static void *serve(void *data)
{
	struct seat *seat = data;
	char text[SIZE];

	while (read(seat->fd, text, SIZE) == SIZE) {
		double since;

		work(60);
		take(seat->kind);
		since = now(CLOCK_MONOTONIC);
		work(40);
		sleep_about(kinds[seat->kind].hold_us, seat->seed);
		work(20);
		seat->held += now(CLOCK_MONOTONIC) - since;
		seat->requests++;
		give(seat->kind);
		work(30);
		if (write(seat->fd, text, SIZE) != SIZE) {
			break;
		}
	}
	return NULL;
}

static void ask(int fd, const struct kind *kind, double seconds, unsigned short *seed)
{
	double end = now(CLOCK_MONOTONIC) + seconds;
	char text[SIZE] = "";

	while (now(CLOCK_MONOTONIC) < end) {
		sleep_about(kind->think_us, seed);
		work(20);
		if (write(fd, text, SIZE) != SIZE || read(fd, text, SIZE) != SIZE) {
			break;
		}
	}
}

int main(int argc, char *argv[])
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	pthread_t threads[2 * CLIENTS];
	struct seat seats[2 * CLIENTS] = { 0 };
	int ends[2 * CLIENTS];

	prctl(PR_SET_NAME, "shop");
	sem_init(&shop.tills, 0, TILLS);
	for (int i = 0; i < 2 * CLIENTS; i++) {
		int pair[2];

		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
		seats[i] = (struct seat) { .fd = pair[1], .kind = i % 2, .seed = { (unsigned short) i, 7 } };
		ends[i] = pair[0];
	}
	for (int i = 0; i < 2 * CLIENTS; i++) {
		if (fork() == 0) {
			unsigned short seed[3] = { (unsigned short) i, 11 };

			prctl(PR_SET_NAME, kinds[i % 2].name);
			for (int k = 0; k < 2 * CLIENTS; k++) {
				close(seats[k].fd);
				if (k != i) {
					close(ends[k]);
				}
			}
			ask(ends[i], &kinds[i % 2], seconds, seed);
			_exit(0);
		}
	}
	for (int i = 0; i < 2 * CLIENTS; i++) {
		close(ends[i]);
		pthread_create(&threads[i], NULL, serve, &seats[i]);
	}
	for (int i = 0; i < 2 * CLIENTS; i++) {
		pthread_join(threads[i], NULL);
	}
	while (wait(NULL) > 0) {
	}
	printf("name\tpermits\trequests\thold_ms\n");
	for (int kind = 0; kind < 2; kind++) {
		double held = 0;
		long requests = 0;

		for (int i = kind; i < 2 * CLIENTS; i += 2) {
			held += seats[i].held;
			requests += seats[i].requests;
		}
		printf("%s\t%d\t%ld\t%.4f\n", kinds[kind].name, kinds[kind].permits, requests, held / (double) requests * 1e3);
	}
	return 0;
}
