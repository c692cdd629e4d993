// Login to a server with authorization, for typescript_peer.cjs: the part that the SDK's OAuth client leaves to its application, and a
// user with a browser. `python_login.py` describes "login" in the plan, and "logins" and "tokens" in the report.

'use strict';

const assert = require('node:assert');
const { randomUUID } = require('node:crypto');

// No program listens at this address. The browser does not follow the redirect.
const REDIRECT = 'http://127.0.0.1:33418/callback';

// Reads the form and the error message of a page. Each page has one form, quotes all attribute values, and escapes none of those that are
// read here.
function read(page) {
    const attribute = (tag, name) => new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
    const tags = (name) => page.match(new RegExp(`<${name}\\b[^>]*>`, 'g')) ?? [];
    const [form] = tags('form');
    assert(form && attribute(form, 'method') === 'post', page);
    const isBox = (it) => attribute(it, 'type') === 'checkbox';
    const inputs = tags('input');
    return {
        action: attribute(form, 'action'),
        fields: Object.fromEntries(
            inputs.filter((it) => !isBox(it)).map((it) => [attribute(it, 'name'), attribute(it, 'value') ?? '']),
        ),
        boxes: inputs.filter(isBox).map((it) => attribute(it, 'value')),
        buttons: tags('button').map((it) => attribute(it, 'value')),
        said: /role="alert">([^<]*)</.exec(page)?.[1],
    };
}

// An `OAuthClientProvider` of either SDK, and the `fetch` of its transport.
class Login {
    constructor(name, plan) {
        Object.assign(this, { name, plan, logins: [], given: [], states: new Set(), refusals: [] });
        this.fetch = this.fetch.bind(this);
    }

    async fetch(url, options) {
        const answer = await fetch(url, options);
        if (answer.status !== 401 || options.method !== 'POST' || !this.awaited) return answer;
        // Reads the body too. Otherwise the SDK would have to wait for the body after the last refusal.
        await answer.clone().text();
        const together = new Promise((resolve) => this.refusals.push(resolve));
        this.awaited -= 1;
        if (!this.awaited) for (const resolve of this.refusals.splice(0)) resolve();
        await together;
        return answer;
    }

    get redirectUrl() {
        return REDIRECT;
    }

    get clientMetadata() {
        const grant_types = ['authorization_code', 'refresh_token'];
        return { client_name: this.name, redirect_uris: [REDIRECT], grant_types, token_endpoint_auth_method: 'none' };
    }

    state() {
        const state = randomUUID();
        this.states.add(state);
        return state;
    }

    clientInformation() {
        return this.client;
    }

    saveClientInformation(client) {
        this.client = client;
    }

    tokens() {
        return this.current;
    }

    saveTokens(tokens) {
        this.current = tokens;
        this.given.push({ access: tokens.access_token, refresh: tokens.refresh_token, scope: tokens.scope });
    }

    codeVerifier() {
        return this.verifier;
    }

    saveCodeVerifier(verifier) {
        this.verifier = verifier;
    }

    discoveryState() {
        return this.discovered;
    }

    saveDiscoveryState(discovered) {
        this.discovered = discovered;
    }

    async redirectToAuthorization(url) {
        this.answer = await this.browse(url);
    }

    // Makes the access token invalid, and holds the refusals back until this number of messages have been refused. Otherwise the number of
    // messages that request new tokens would depend on chance. `sdk` also fails for a message that is refused after another message has
    // got new tokens.
    expire(messages) {
        this.current = { ...this.current, access_token: 'expired' };
        this.awaited = messages;
    }

    // Passes the browser's answer to the client, if the client has sent its user to the server.
    async finish(transport) {
        const { answer } = this;
        if (!answer) return false;
        this.answer = undefined;
        assert(this.states.delete(answer.get('state')), `${answer}`);
        const [code, error] = [answer.get('code'), answer.get('error')];
        if (this.name === 'typescript-client') {
            // This client checks the issuer and errors itself.
            await transport.finishAuth(answer);
        } else {
            assert(code, `${error}: ${answer.get('error_description')}`);
            await transport.finishAuth(code);
        }
        return true;
    }

    report() {
        return { logins: this.logins, tokens: this.given };
    }

    // Fills in the pages until the redirect to the client.
    async browse(url) {
        const cookies = new Map();
        let answer = await fetch(url, { redirect: 'manual' });
        for (; answer.status < 300 || answer.status > 399; ) {
            for (const cookie of answer.headers.getSetCookie()) {
                const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie);
                cookies.set(name, value);
            }
            const page = read(await answer.text());
            const headers = { origin: url.origin, cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
            const body = new URLSearchParams(this.fill(page));
            answer = await fetch(new URL(page.action, url), { method: 'POST', redirect: 'manual', headers, body });
        }
        const back = new URL(answer.headers.get('location'));
        assert.equal(back.origin + back.pathname, REDIRECT);
        return back.searchParams;
    }

    // Returns the names and values of a filled-in form.
    fill({ fields, boxes, buttons, said }) {
        const sent = Object.entries(fields);
        if (buttons.includes('allow')) {
            const wanted = this.plan.grants?.[this.logins.filter((it) => it.asked).length] ?? boxes;
            const granted = boxes.filter((it) => wanted.includes(it));
            this.logins.push({ asked: boxes, granted });
            return [...sent, ...granted.map((it) => ['scope', it]), ['action', 'allow']];
        }
        if (said) {
            this.logins.push({ refused: said });
            return [...sent, ['action', 'deny']];
        }
        assert('name' in fields && 'password' in fields, JSON.stringify(fields));
        const { name, password } = this.plan;
        return Object.entries({ ...fields, name, password, action: 'login' });
    }
}

module.exports = { Login };
