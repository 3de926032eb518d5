/* SPDX-License-Identifier: MIT */

/*
 * A small FastCGI server for recording-cost: `fastcgi SOCKET REDIS-PORT WORKERS US`. Each worker takes a request of nginx, asks redis
 * twice, computes for so many µs, and answers with a page.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BEGIN = 1, END = 3, STDIN = 5, STDOUT = 6, HEAD = 8, PAGE = 2000 };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* False if the other end has closed. */
static int read_all(int fd, void *to, size_t len)
{
	for (char *at = to; len > 0;) {
		ssize_t n = read(fd, at, len);

		if (n <= 0) {
			return 0;
		}
		at += n;
		len -= (size_t) n;
	}
	return 1;
}

/* Reads records up to the empty one that ends the request's body; the request's id, -1: closed. */
static int take_request(int fd)
{
	unsigned char head[HEAD], body[65536 + 256];

	while (read_all(fd, head, sizeof(head))) {
		size_t len = (size_t) head[4] << 8 | head[5];

		if (!read_all(fd, body, len + head[6])) {
			break;
		}
		if (head[1] == STDIN && len == 0) {
			return head[2] << 8 | head[3];
		}
	}
	return -1;
}

static size_t put_record(unsigned char *to, int type, int id, const void *body, size_t len)
{
	const unsigned char head[HEAD] = { 1, (unsigned char) type, (unsigned char) (id >> 8), (unsigned char) id,
		(unsigned char) (len >> 8), (unsigned char) len, 0, 0 };

	memcpy(to, head, HEAD);
	memcpy(to + HEAD, body, len);
	return HEAD + len;
}

static void answer(int fd, int id)
{
	static const char header[] = "Content-Type: text/html\r\n\r\n";
	static const unsigned char end[8];
	unsigned char page[PAGE], out[PAGE + 4 * HEAD];
	size_t n;

	memset(page, 'x', sizeof(page));
	memcpy(page, header, sizeof(header) - 1);
	n = put_record(out, STDOUT, id, page, sizeof(page));
	n += put_record(out + n, STDOUT, id, "", 0);
	n += put_record(out + n, END, id, end, sizeof(end));
	if (write(fd, out, n) != (ssize_t) n) {
		perror("fastcgi: write");
	}
}

static void ask_redis(int fd)
{
	static const char get[] = "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n";
	char reply[4096];

	if (write(fd, get, sizeof(get) - 1) != (ssize_t) sizeof(get) - 1 || read(fd, reply, sizeof(reply)) <= 0) {
		fail("fastcgi: redis");
	}
}

static void compute(long us)
{
	struct timespec now;
	volatile uint64_t x = 1;
	long until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	until = now.tv_sec * 1000000 + now.tv_nsec / 1000 + us;
	do {
		for (int i = 0; i < 2000; i++) {
			x = x * 6364136223846793005u + 1;
		}
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec * 1000000 + now.tv_nsec / 1000 < until);
}

static int connect_redis(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(fd, (struct sockaddr *) &to, sizeof(to)) != 0) {
		fail("fastcgi: connect to redis");
	}
	return fd;
}

static void serve(int listener, int port, long us)
{
	int redis = connect_redis(port);

	for (;;) {
		int fd = accept(listener, NULL, NULL), id = fd < 0 ? -1 : take_request(fd);

		if (id >= 0) {
			ask_redis(redis);
			compute(us);
			ask_redis(redis);
			answer(fd, id);
		}
		close(fd);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	if (argc != 5) {
		fputs("Usage: fastcgi SOCKET REDIS-PORT WORKERS US\n", stderr);
		return 64;
	}
	strncpy(at.sun_path, argv[1], sizeof(at.sun_path) - 1);
	if (bind(listener, (struct sockaddr *) &at, sizeof(at)) != 0 || listen(listener, 128) != 0) {
		fail("fastcgi: bind");
	}
	signal(SIGPIPE, SIG_IGN);	/* nginx goes when the load does */
	for (int i = 0; i < atoi(argv[3]); i++) {
		if (fork() == 0) {
			serve(listener, atoi(argv[2]), atol(argv[4]));
		}
	}
	while (wait(NULL) > 0) {
	}
	return 0;
}
