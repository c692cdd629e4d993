// Failures of requests, with advice for the user.

import { InsufficientScopeError, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';

// `code` is the code of a JSON-RPC error, and `status` the HTTP status of a response that has refused the request. `needsLogin` means that the server
// has refused the access token.
export type Failure = { code?: number; status?: number; message: string; data?: any; needsLogin?: boolean };

// The stream of a response has ended before the response.
export class ConnectionLost extends Error {
    constructor() {
        super('The connection ended before the response came.');
    }
}

// Returns the failure of a request. `refusal` says why the server has refused the access token.
export function failureOf(error: any, refusal: () => string): Failure {
    const status = statusOf(error);
    if (status === 401 || InsufficientScopeError.isInstance(error)) return { status, message: refusal(), needsLogin: true };
    const code = rpcCodeOf(error);
    // The library repeats the response in the data of its own errors.
    return { code, status, message: explain(error), data: code === undefined ? undefined : error.data };
}

function statusOf(error: unknown): number | undefined {
    if (UnauthorizedError.isInstance(error)) return 401;
    if (InsufficientScopeError.isInstance(error)) return 403;
    return SdkHttpError.isInstance(error) ? error.status : undefined;
}

// Returns the code of a JSON-RPC error. Errors of the browser have numbers of their own, and those of the client library have texts.
export function rpcCodeOf(error: any): number | undefined {
    return Number.isInteger(error?.code) && !(error instanceof DOMException) ? error.code : undefined;
}

// Returns the message of an error for the user.
export function explain(error: unknown): string {
    const text = error instanceof Error ? error.message : String(error);
    if (error instanceof TypeError) return `The server cannot be reached (${text}). Is it still running?`;
    return invalidResult(text) ?? text;
}

// The client library reports each rule of the protocol that a result breaks, as JSON. Names the places in the result instead.
function invalidResult(text: string): string | undefined {
    const [, issues] = /^Invalid result for [^:]*: (\[.*)$/s.exec(text) ?? [];
    try {
        const places: string[] = JSON.parse(issues).map(({ path, message }: any) => `${path.join('/') || 'the result'} (${message})`);
        return `The protocol does not allow this result: ${places.join(', ')}`;
    } catch {
        return undefined;
    }
}

// Returns advice for the user.
export function advice({ code, status, message, data, needsLogin }: Failure): string {
    if (needsLogin) return 'Log in again, and allow what the call needs. The form keeps its values.';
    if (code === -32021 && data?.requiredCapabilities?.extensions) return 'Check “Run as a task”: this tool runs only as a task.';
    if (code === -32042) return 'Open the page below, and then run the call again.';
    if (code === -32002 || (code === -32602 && data?.uri !== undefined)) return 'The server has no resource at this address, or not for this user.';
    if (code === -32602) return 'Compare the arguments with the fields: the message names what the server did not accept.';
    if (code === -32601) return 'The server or this revision does not have the method. Choose another revision at the top.';
    if (code === -32020) return 'A header of the request differs from its body. The tab “Wire” shows both.';
    if (code === -32600) return 'The server did not accept the request. The tab “Wire” shows it.';
    if (code === -32603) return 'The handler failed. The server has logged the reason.';
    if (/cannot be reached|connection ended/.test(message)) return 'The terminal of the server shows why it ended. Choose “Reconnect” at the top when it runs again.';
    if (status === 403) return 'Ask for the permission that the message names.';
    if (status === 404) return 'The session may have ended. Choose “Reconnect” at the top, and then run the call again.';
    if (status === 413) return 'The server allows less in one request. Make the arguments shorter.';
    if (status === 429) return 'The server allows fewer calls in this time. Wait, and then run the call again.';
    if (status !== undefined) return 'The server, or a proxy before it, has refused the HTTP request. The message above is its answer: the tab “Wire” shows only the request.';
    return 'The tab “Wire” shows the whole answer.';
}
