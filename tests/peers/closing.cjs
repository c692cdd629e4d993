// The SDKs kill a server that has not ended two seconds after its stdin. On a busy machine that says nothing about the server.

'use strict';

const { ChildProcess } = require('node:child_process');

const { kill } = ChildProcess.prototype;
let killed = false;
ChildProcess.prototype.kill = function (...signal) {
    killed = true;
    return kill.apply(this, signal);
};

// Runs `close` with thirty times the patience, and returns whether a server was killed nevertheless.
async function closing(close) {
    // A client that probes for the revision ends the server it has probed.
    killed = false;
    const wait = globalThis.setTimeout;
    globalThis.setTimeout = (run, ms, ...rest) => wait(run, 30 * ms, ...rest);
    try {
        await close();
    } finally {
        globalThis.setTimeout = wait;
    }
    return killed;
}

module.exports = { closing };
