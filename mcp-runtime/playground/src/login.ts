// The login at the authorization server of the server. Tokens are kept until the tab is closed.

import type { OAuthClientProvider, OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { ENDPOINT, PAGE } from './endpoint.ts';

const PREFIX = `mcp-playground ${ENDPOINT.href} `;

function load<T>(name: string): T | undefined {
    const text = sessionStorage.getItem(PREFIX + name);
    return text === null ? undefined : JSON.parse(text);
}

const save = (name: string, value: unknown) => sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
const forget = (name: string) => sessionStorage.removeItem(PREFIX + name);

export class Login implements OAuthClientProvider {
    // Whether the page may leave for the authorization server. Without this, the person first sees what happens.
    mayLeave = false;
    readonly redirectUrl = PAGE.href;
    readonly clientMetadata = {
        client_name: 'mcp-runtime playground',
        redirect_uris: [PAGE.href],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
    };

    state(): string {
        const state = crypto.randomUUID();
        save('state', state);
        return state;
    }

    clientInformation = () => load<StoredOAuthClientInformation>('client');
    saveClientInformation = (client: StoredOAuthClientInformation) => save('client', client);
    tokens = () => load<StoredOAuthTokens>('tokens');
    saveTokens = (tokens: StoredOAuthTokens) => save('tokens', tokens);
    codeVerifier = () => load<string>('verifier') ?? '';
    saveCodeVerifier = (verifier: string) => save('verifier', verifier);
    discoveryState = () => load<OAuthDiscoveryState>('discovery');
    saveDiscoveryState = (state: OAuthDiscoveryState) => save('discovery', state);

    redirectToAuthorization(url: URL): void {
        if (!this.mayLeave) return;
        save('return', location.hash);
        location.assign(url);
    }

    invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
        const names = scope === 'all' ? ['client', 'tokens', 'verifier', 'discovery'] : [scope];
        names.forEach(forget);
    }

    get isLoggedIn(): boolean {
        return this.tokens() !== undefined;
    }

    logOut(): void {
        this.invalidateCredentials('all');
    }
}

// Returns the parameters with which the authorization server has sent the browser back, and takes them out of the address.
export function returned(): URLSearchParams | undefined {
    const parameters = new URLSearchParams(location.search);
    if (!parameters.has('code') && !parameters.has('error')) return undefined;
    history.replaceState(null, '', PAGE.pathname + (load<string>('return') ?? ''));
    const isOurs = parameters.get('state') === load<string>('state');
    forget('state');
    if (!isOurs) throw new Error('This login was not begun in this tab. Log in again.');
    return parameters;
}
