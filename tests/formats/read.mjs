// SPDX-License-Identifier: MIT
// read.mjs FOLDED TRACE: reads both with speedscope's importer, and TRACE with tracerbench's model of Chrome traces; prints what
// they have found as JSON.
import { readFileSync, readdirSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { buildModel } from '@tracerbench/trace-model';

const FOLDER = new URL('./node_modules/speedscope/dist/release/', import.meta.url);

// speedscope is a page of which only the importer is wanted: the function that its handler of the clipboard calls. Everything else
// finds an object that takes whatever is done to it.
function importer() {
	const name = readdirSync(FOLDER).find((file) => /^speedscope-.*\.js$/.test(file));
	const source = readFileSync(new URL(name, FOLDER), 'utf8');
	const found = /await ([\w$]+)\("From Clipboard"/.exec(source);
	const nothing = new Proxy(function () {}, {
		get: (target, key) => key === Symbol.toPrimitive ? () => '' : key === Symbol.iterator ? [][key].bind([]) :
			key === 'length' ? 0 : key === 'then' ? undefined : nothing,
		set: () => true, apply: () => nothing, construct: () => nothing,
	});
	const page = { ...Object.fromEntries(['document', 'navigator', 'location', 'localStorage', 'requestAnimationFrame',
		'addEventListener', 'matchMedia', 'Image', 'FontFace', 'HTMLElement'].map((key) => [key, nothing])),
	console: { ...console, log() {}, time() {}, timeEnd() {} }, TextDecoder, TextEncoder, setTimeout, clearTimeout, performance };

	page.window = page.self = page;
	try {
		runInNewContext(source.replace('(()=>{', `(()=>{globalThis.read=(...a)=>${found[1]}(...a);`), page);
	} catch (error) {
		if (!(page.read && error.message.includes('call stack'))) {
			throw error;
		}
		// it has come to drawing the page
	}
	return page.read;
}

const read = importer();

async function profiles(name) {
	const group = await read(name, readFileSync(name, 'utf8'));

	return (group?.profiles ?? []).map((p) => ({ name: p.getName(), weight: p.getTotalWeight() }));
}

function tracks(name) {
	return buildModel(JSON.parse(readFileSync(name, 'utf8'))).processes.flatMap((p) => p.threads.map((t) => {
		const slices = t.events.filter((e) => e.isComplete());

		return { process: p.name, thread: t.name, slices: slices.length,
			outer: slices.filter((e) => !e.parent).reduce((sum, e) => sum + e.duration, 0) };
	}));
}

const [folded, trace] = process.argv.slice(2);

console.log(JSON.stringify({ stacks: await profiles(folded), threads: await profiles(trace), tracks: tracks(trace) }));
