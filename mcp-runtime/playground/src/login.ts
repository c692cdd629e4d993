// The login at the authorization server of the server. Tokens are kept until the tab is closed.

import type { AuthProvider, OAuthClientProvider, OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { ENDPOINT, PAGE } from './endpoint.ts';
import { readJson, remove, write } from './storage.ts';

const PREFIX = `mcp-playground ${ENDPOINT.href} `;

const load = <T,>(name: string) => readJson<T>('sessionStorage', PREFIX + name);
const save = (name: string, value: unknown) => void write('sessionStorage', PREFIX + name, JSON.stringify(value));
const forget = (name: string) => remove('sessionStorage', PREFIX + name);

// A login that has come back without a token.
export class LoginFailed extends Error {}

export class Login implements OAuthClientProvider {
    // Whether the page may leave for the authorization server. Without this, the user first sees what happens.
    mayLeave = false;
    // The header `WWW-Authenticate` of the last response that refused the token.
    challenge = '';
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

    // A token that the user has entered.
    enterToken(token: string): void {
        this.logOut();
        save('token', token);
    }

    // Returns what gives the transport its token. The library registers a client and leaves for the authorization server by itself, so it gets
    // this login only after the user has asked for it.
    get provider(): OAuthClientProvider | AuthProvider {
        const token = load<string>('token');
        if (token !== undefined) return { token: async () => token };
        return this.mayLeave || this.tokens() !== undefined ? this : { token: async () => undefined };
    }

    // Forgets the token that the user has entered. Returns whether there was one.
    dropToken(): boolean {
        const wasEntered = load<string>('token') !== undefined;
        forget('token');
        return wasEntered;
    }

    // Says why the server has refused the token.
    refusal(): string {
        const scope = /insufficient_scope/.test(this.challenge) && /scope="([^"]+)"/.exec(this.challenge)?.[1];
        // The server may name all permissions of the next token, and so those that this token has.
        return scope ? `The call needs a login with ${scope.split(' ').join(' and ')}. This login allows less.` : 'The server has refused the access token.';
    }

    get isLoggedIn(): boolean {
        return this.tokens() !== undefined || load<string>('token') !== undefined;
    }

    logOut(): void {
        this.mayLeave = false;
        forget('token');
        this.invalidateCredentials('all');
    }
}

// Takes the parameters with which the authorization server has sent the browser back out of the address, and brings the state of the form back.
// This happens before the page reads its address.
function takeReturned(): { parameters: URLSearchParams; isOurs: boolean } | undefined {
    const parameters = new URLSearchParams(location.search);
    if (!parameters.has('code') && !parameters.has('error')) return undefined;
    history.replaceState(null, '', PAGE.pathname + (load<string>('return') ?? ''));
    const isOurs = parameters.get('state') === load<string>('state');
    forget('state');
    return { parameters, isOurs };
}

let back = takeReturned();

// Returns the parameters of the authorization server once.
export function returned(): URLSearchParams | undefined {
    const found = back;
    back = undefined;
    if (found && !found.isOurs) throw new LoginFailed('the login was begun in another tab.');
    return found?.parameters;
}
