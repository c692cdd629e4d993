// The SDKs kill a server that has not ended two seconds after the end of its stdin. On a busy machine this timeout is too short.

'use strict';

const { ChildProcess } = require('node:child_process');

const { kill } = ChildProcess.prototype;
let killed = false;
ChildProcess.prototype.kill = function (...signal) {
    killed = true;
    return kill.apply(this, signal);
};

// Runs `close` with thirty times the usual timeouts, and returns whether the SDK still killed a server.
async function closing(close) {
    // A client that probes for the revision ends the probed server, which does not count.
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
