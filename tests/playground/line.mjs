// A line between the page and the server, which a scenario cuts as if the server had ended, and repairs.

import { connect, createServer } from 'node:net';

export async function lineTo(url) {
    const { hostname, port } = new URL(url);
    const open = new Set();
    let isCut = false;
    const line = createServer((near) => {
        if (isCut) return near.destroy();
        const far = connect(Number(port), hostname);
        for (const socket of [near, far]) {
            open.add(socket);
            socket.on('error', () => {});
            socket.on('close', () => {
                open.delete(socket);
                near.destroy();
                far.destroy();
            });
        }
        near.pipe(far).pipe(near);
    });
    await new Promise((resolve) => line.listen(0, '127.0.0.1', resolve));
    // A scenario that fails does not close the line.
    line.unref();
    const cutOpen = () => open.forEach((socket) => socket.destroy());
    return {
        // The page, as the browser reaches it through this line.
        url: url.replace(`:${port}`, `:${line.address().port}`),
        cut: () => {
            isCut = true;
            cutOpen();
        },
        repair: () => (isCut = false),
        close: () => {
            line.close();
            cutOpen();
        },
    };
}
