// Shows the failure of a request, with advice for the user.

import { useActions } from '../actions.ts';
import { pretty } from '../exact.ts';
import { advice, type Failure } from '../failure.ts';
import { Link } from '../markdown.tsx';

export function FailureView({ failure }: { failure: Failure }) {
    const pages: any[] = failure.data?.elicitations ?? [];
    return (
        <div class="notice notice-error">
            <p>
                <strong>{failure.message}</strong> {failure.code !== undefined ? <code>{failure.code}</code> : failure.status !== undefined && <code>HTTP {failure.status}</code>}
            </p>
            <p>{advice(failure)}</p>
            {failure.needsLogin && <LoginButton />}
            {pages.map(({ url, message }) => (
                <p>
                    {message} <Link url={url}>{url}</Link>
                </p>
            ))}
            {failure.data !== undefined && !pages.length && <pre tabIndex={0}>{pretty(failure.data)}</pre>}
        </div>
    );
}

export function LoginButton() {
    const { logIn } = useActions();
    return (
        <p>
            <button type="button" onClick={logIn}>
                Log in again
            </button>
        </p>
    );
}
