"""Login to a server with authorization, for python_peer.py: the SDK's OAuth client, and a user with a browser.

"login" of a plan:
    {"name": "ada", "password": "...",
     "grants": [["notes:read"], ...]}    the scopes that the user leaves ticked at each login; by default all of them

"logins" of the report has an entry for each time that the client sent its user to the server:
    {"asked": ["notes:read", ...], "granted": [...]}
    {"refused": "..."}                   the error message about the password, after which the user gives up

"tokens" of the report are all tokens that the client has received: [{"access", "refresh", "scope"}, ...].
"""

from contextlib import asynccontextmanager
from html.parser import HTMLParser
from time import time
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

# No program listens at this address. The browser does not follow the redirect.
REDIRECT = "http://127.0.0.1:33418/callback"


class Page(HTMLParser):
    """The form of a page, and its error message."""

    def __init__(self, text):
        super().__init__()
        self.action, self.fields, self.boxes, self.buttons, self.said = None, {}, [], [], ""
        self.is_message = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        it = dict(attributes)
        self.is_message = it.get("role") == "alert"
        if tag == "form":
            assert it["method"] == "post", it
            self.action = it["action"]
        elif tag == "button":
            self.buttons.append(it["value"])
        elif tag == "input" and it.get("type") == "checkbox":
            self.boxes.append(it["value"])
        elif tag == "input":
            self.fields[it["name"]] = it.get("value", "")

    def handle_data(self, data):
        if self.is_message:
            self.said += data


class Login:
    """The client's side of an authorization."""

    def __init__(self, url, plan):
        self.plan, self.logins, self.tokens = plan, [], []
        self.client_info = None
        self.answer = None
        self.provider = OAuthClientProvider(
            url,
            OAuthClientMetadata(client_name="python-peer", redirect_uris=[REDIRECT]),
            self,
            self.browse,
            self.come_back,
        )

    # Token storage of the SDK.

    async def get_tokens(self):
        return self.tokens[-1] if self.tokens else None

    async def set_tokens(self, tokens):
        self.tokens.append(tokens)

    async def get_client_info(self):
        return self.client_info

    async def set_client_info(self, client_info):
        self.client_info = client_info

    def expire(self):
        """Lets the access token expire."""
        self.provider.context.token_expiry_time = time() - 1

    def report(self):
        tokens = [{"access": it.access_token, "refresh": it.refresh_token, "scope": it.scope} for it in self.tokens]
        return {"logins": self.logins, "tokens": tokens}

    @asynccontextmanager
    async def transport(self, url):
        async with create_mcp_http_client(auth=self.provider) as http:
            async with streamable_http_client(url, http_client=http) as streams:
                yield streams

    async def browse(self, url):
        """Follows the pages to the redirect that leads back to the client."""
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(url)
            while not answer.is_redirect:
                page = Page(answer.text)
                assert page.action is not None, answer.text
                where, fields = urljoin(str(answer.url), page.action), self.fill(page)
                answer = await browser.post(where, data=fields, headers={"Origin": origin})
        back = answer.headers["location"]
        assert back.startswith(f"{REDIRECT}?"), back
        self.answer = parse_qs(urlsplit(back).query)

    def fill(self, page):
        if "allow" in page.buttons:
            grants = self.plan.get("grants", [])
            turn = sum("asked" in it for it in self.logins)
            granted = [it for it in page.boxes if turn >= len(grants) or it in grants[turn]]
            self.logins.append({"asked": page.boxes, "granted": granted})
            return page.fields | {"scope": granted, "action": "allow"}
        if page.said:
            self.logins.append({"refused": page.said})
            return page.fields | {"action": "deny"}
        entered = {"name": self.plan["name"], "password": self.plan["password"]}
        assert entered.keys() <= page.fields.keys(), page.fields
        return page.fields | entered | {"action": "login"}

    async def come_back(self):
        answer = {name: value for name, [value] in self.answer.items()}
        if "error" in answer:
            raise OAuthFlowError(f"{answer['error']}: {answer['error_description']}")
        return AuthorizationCodeResult(code=answer["code"], state=answer["state"], iss=answer["iss"])
