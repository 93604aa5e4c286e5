"""Does support staff's work in the console: in Chromium, with a running Deed and a practice store.

    console_browser.py [--without-script] [--screenshots FOLDER]

DEED_URL, DEED_KEY (of an admin) and DEED_STORE are the addresses and the key. DEED_ADMIN_LINK and DEED_SUPPORT_LINK are
links with which two people choose a password. DEED_SPARE_ID and DEED_SPARE_KEY belong to a key that the program revokes.
Each task starts at the search box. `press` counts presses: each task needs at most two from the page that the search leads
to. page_checker.js checks every page. Complaints go to standard error, and the program ends with 1 if there are any.
"""
import argparse
import base64
import hashlib
import hmac
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

DEED, KEY, STORE = (os.environ[name] for name in ("DEED_URL", "DEED_KEY", "DEED_STORE"))
FOLDER = os.path.dirname(os.path.abspath(__file__))
CHECKER = open(os.path.join(FOLDER, "page_checker.js"), encoding="utf-8").read()
PASSWORD = "correct horse battery"
SANDBOX = "environment=sandbox"
HOME = "/console/p/default"
complaints = []


def complain(sentence):
    complaints.append(sentence)
    print(sentence, file=sys.stderr)


def expect(is_so, sentence):
    if not is_so:
        complain(sentence)


# Questions to Deed and the store.

def ask(method, url, body=None, key=KEY):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method)
    request.add_header("Content-Type", "application/json")
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{method} {url}: {error.code} {error.read().decode()}") from error


def step(**members):
    """Takes a step at the store."""
    return ask("POST", f"{STORE}/practice/steps", members, key=None)


def buy(customer, product):
    """Makes a purchase, which the back end then submits."""
    bought = step(do="buy", customer=customer, product=product)
    submit(customer, bought["signed_transaction"])
    return bought["transaction"]


def submit(customer, signed):
    ask("POST", f"{DEED}/v1/customers/{customer}/receipts?{SANDBOX}", {"signed_transactions": [signed]})


def events(customer, environment="sandbox"):
    return ask("GET", f"{DEED}/v1/customers/{customer}/events?environment={environment}&limit=1000")["events"]


def active(customer, entitlement):
    path = f"/v1/customers/{customer}/entitlements/{entitlement}?{SANDBOX}"
    return ask("GET", DEED + path)["active"]


def code_of(secret, steps=0):
    """Returns the current code of a second factor, or the code some half minutes later."""
    step = int(time.time() // 30) + steps
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">q", step), "sha1")
    start = digest[19] & 15
    return f"{(struct.unpack('>I', digest[start:start + 4])[0] & 0x7FFFFFFF) % 1000000:06}"


# The receiver of a webhook.

class Receiver(BaseHTTPRequestHandler):
    received = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.received.append(self.headers["webhook-id"])
        self.send_response(200)
        self.end_headers()
        del body

    def log_message(self, *words):
        pass


def receive():
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/hook"


def eventually(is_so, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if is_so():
            return True
        time.sleep(0.02)
    return False


class Desk:
    """A person who uses a browser."""

    def __init__(self, runs_script, screenshots):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1280,900", "--hide-scrollbars", "--lang=en-GB",
                     "--disable-background-networking", "--disable-component-update"):
            options.add_argument(word)
        self.saved = tempfile.mkdtemp()
        prefs = {"download.default_directory": self.saved}
        if not runs_script:
            prefs["profile.managed_default_content_settings.javascript"] = 2
        options.add_experimental_option("prefs", prefs)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(
            service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_page_load_timeout(60)
        self.runs_script = runs_script
        self.screenshots = screenshots
        self.presses = 0
        self.person = None

    def close(self):
        self.driver.quit()

    # Moving between pages.

    def open(self, path):
        self.driver.get(DEED + path)

    def leave(self, act):
        """Does something that leads to another page, and waits for it."""
        page = self.driver.find_element(By.TAG_NAME, "html")
        act()

        def is_left():
            try:
                page.is_enabled()
            except StaleElementReferenceException:
                return self.driver.execute_script("return document.readyState") == "complete"
            except WebDriverException:
                pass
            return False

        expect(eventually(is_left, 30), f"the page {self.driver.current_url} was not left")

    def sign_up(self, link, email):
        self.driver.get(link)
        self.check("link")
        for name in ("password", "again"):
            self.fill(name, PASSWORD)
        self.leave(self.driver.find_element(By.CSS_SELECTOR, "main button").click)
        self.sign_in(email)

    def sign_in(self, email):
        self.open("/console/sign-in")
        self.check("sign-in")
        self.fill("email", email)
        self.fill("password", PASSWORD)
        self.leave(self.driver.find_element(By.CSS_SELECTOR, "main button").click)

    def second_factor(self, email):
        """Sets up a second factor, and signs in again with the next code."""
        told = f"a second factor of {email}"
        self.press(email, "header")
        self.check("your-sign-in")
        self.fill("password", PASSWORD)
        self.press("Set up a second factor")
        self.check("second-factor")
        link = re.search(r"otpauth://\S+", self.text).group()
        secret = urllib.parse.parse_qs(urllib.parse.urlparse(link).query)["secret"][0]
        expect(self.scanned() == link, f"{told}: a camera reads {self.scanned()!r} instead of {link!r}")
        self.fill("code", code_of(secret))
        self.press("Turn it on")
        self.check("emergency-codes")
        self.says("They are shown only now", told)
        codes = [item.text for item in self.driver.find_elements(By.CSS_SELECTOR, "main li code")]
        expect(len(set(codes)) == 10, f"{told}: the emergency codes are {codes}")
        for code in (code_of(secret, 1), codes[0]):
            self.press("Sign out", "header")
            self.sign_in(email)
            self.check("code")
            self.fill("code", "000000")
            self.press("Sign in")
            self.says("The code is wrong, or was used before", told)
            self.fill("code", code)
            self.press("Sign in")
        self.open("/console/your-sign-in")
        self.check("your-sign-in-on")
        self.says("Emergency codes left: 9", told)
        self.open("/console")

    def scanned(self):
        """Returns the text that a camera's program reads in the QR code on the page."""
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            file.write(self.driver.find_element(By.CSS_SELECTOR, "svg.qr").screenshot_as_png)
            file.flush()
            return subprocess.run(["zbarimg", "--quiet", "--raw", file.name], capture_output=True, text=True).stdout.strip()

    def fill(self, name, words, within="main"):
        field = self.driver.find_element(By.CSS_SELECTOR, f'{within} [name="{name}"]:not([type="hidden"])')
        if field.tag_name == "select":
            Select(field).select_by_value(words)
        else:
            field.clear()
            field.send_keys(words)

    def search(self, words):
        """Searches, and starts to count presses again."""
        if self.runs_script:
            self.driver.find_element(By.TAG_NAME, "body").send_keys("/")
            box = self.driver.switch_to.active_element
            expect(box.get_attribute("id") == "q", "the key / does not lead to the search box")
        box = self.driver.find_element(By.ID, "q")
        box.clear()
        box.send_keys(words)
        self.leave(lambda: box.send_keys(Keys.ENTER))
        self.presses = 0

    def press(self, words, within="main"):
        """Presses a link or a button with these words."""
        self.presses += 1
        self.leave(self.usable(words, within).click)

    def usable(self, words, within="main"):
        """Returns a link or a button with these words."""
        literal = f'"{words}"'
        path = f'.//*[self::a or self::button][normalize-space(.)={literal}]'
        return self.driver.find_element(By.CSS_SELECTOR, within).find_element(By.XPATH, path)

    def save(self, words, told):
        """Presses a link that saves a file, and returns the file's content."""
        before = set(os.listdir(self.saved))
        self.usable(words).click()

        def new():
            return [name for name in os.listdir(self.saved)
                    if name not in before and not name.startswith(".") and not name.endswith(".crdownload")]

        if not eventually(lambda: bool(new())):
            complain(f"{told}: nothing was saved")
            return b""
        with open(os.path.join(self.saved, new()[0]), "rb") as file:
            return file.read()

    @property
    def text(self):
        return " ".join(self.driver.find_element(By.TAG_NAME, "main").text.split())

    def says(self, words, told):
        expect(words in self.text, f"{told}: the page does not say {words!r} but {self.text!r}")

    def done(self, words, most, told):
        self.says(f"Done. {words}", told)
        expect(self.presses <= most, f"{told}: it took {self.presses} presses")

    def give_reason(self, ticket, reason="support case"):
        self.fill("reason", reason)
        self.fill("ticket", ticket)

    def undo(self, button, ticket, told):
        self.press("Undo")
        self.give_reason(ticket)
        self.press(button)
        self.says("Done.", f"{told}, undone")

    # Looking at pages.

    def check(self, name):
        """Checks the page and takes screenshots."""
        told = f"{name} ({self.driver.current_url.removeprefix(DEED)})"
        for finding in self.driver.execute_script(CHECKER):
            complain(f"{told}: {finding}")
        for theme in ("light", "dark"):
            self.media(theme)
            for finding in self.driver.execute_script(CHECKER + "; return contrast();"):
                complain(f"{told}, {theme}: {finding}")
            self.picture(name, theme)
        self.media("light")
        self.names(told)
        self.focus(told)
        self.command("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=False)
        width = self.driver.execute_script("return document.scrollingElement.scrollWidth")
        expect(width <= 360, f"{told}: at 360 px the page is {width} px wide")
        self.picture(name, "360")
        self.command("Emulation.setDeviceMetricsOverride", width=320, height=740, deviceScaleFactor=1, mobile=False)
        width = self.driver.execute_script("return document.scrollingElement.scrollWidth")
        expect(width <= 320, f"{told}: at 320 px the page is {width} px wide")
        self.command("Emulation.clearDeviceMetricsOverride")
        self.command("Emulation.setEmulatedMedia", media="print")
        self.picture(name, "print")
        self.command("Emulation.setEmulatedMedia", media="")
        for entry in self.driver.get_log("browser"):
            if entry["level"] == "SEVERE" and "favicon" not in entry["message"] and " 40" not in entry["message"]:
                complain(f"{told}: {entry['message']}")

    def command(self, name, **members):
        return self.driver.execute_cdp_cmd(name, members)

    def media(self, theme):
        self.command("Emulation.setEmulatedMedia", media="", features=[
            {"name": "prefers-color-scheme", "value": theme}])

    def names(self, told):
        """Expects every control to have a name for screen readers."""
        usable = {"link", "button", "textbox", "searchbox", "combobox", "checkbox", "radio", "slider",
                  "spinbutton", "heading", "table", "main", "img"}
        unnamed = {"main", "table"}
        for node in self.command("Accessibility.getFullAXTree")["nodes"]:
            role = node.get("role", {}).get("value")
            name = node.get("name", {}).get("value", "").strip()
            if node.get("ignored") or role not in usable - unnamed or name:
                continue
            complain(f"{told}: a {role} has no name")

    def focus(self, told):
        """Expects the Tab key to reach every control in order, with a visible focus."""
        self.driver.execute_script("document.activeElement.blur(); window.scrollTo(0, 0)")
        seen = 0
        actions = webdriver.ActionChains(self.driver)
        for _ in range(25):
            actions.send_keys(Keys.TAB).perform()
            actions.reset_actions()
            found = self.driver.execute_script("""
                const it = document.activeElement;
                if (!it || it === document.body) return null;
                const style = getComputedStyle(it);
                const drawn = it.querySelector("rect, path");
                const isOutlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
                const isStroked = drawn && parseFloat(getComputedStyle(drawn).strokeWidth) >= 2;
                return [it.tagName + " " + (it.textContent || it.name || "").trim().slice(0, 40), isOutlined || !!isStroked];""")
            if found is None:
                break
            seen += 1
            if not found[1]:
                complain(f"{told}: one does not see that {found[0]} has the focus")
        expect(seen > 0, f"{told}: Tab leads nowhere")

    def picture(self, name, kind):
        if not self.screenshots:
            return
        size = self.command("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}
        data = self.command("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
        with open(os.path.join(self.screenshots, f"{name}-{kind}.png"), "wb") as file:
            file.write(base64.b64decode(data))


class Cases:
    """The tasks. Each uses separate customers."""

    def __init__(self, admin, support, mark):
        self.admin, self.support, self.mark = admin, support, mark
        self.hook = None

    def name(self, word):
        return f"{word}-{self.mark}"

    def own_event(self, customer, type_, desk, told, environment="sandbox"):
        found = [event for event in events(customer, environment) if event["type"] == type_]
        expect(bool(found), f"{told}: there is no {type_}")
        if found:
            actor = found[-1]["actor"]
            expect(actor == f"person:{desk.person}", f"{told}: {type_} is by {actor}")

    def paid_and_has_nothing(self):
        told, desk, customer = "I paid and have nothing", self.support, self.name("max")
        transaction = step(do="buy", customer=customer, product="pro.month")["transaction"]
        desk.search(f"apple:{transaction}")
        desk.says("No customer has claimed it", told)
        desk.check("find-unclaimed")
        desk.fill("customer", customer)
        desk.press("Show what it changes")
        desk.says("pro never held", told)
        desk.give_reason("T-1")
        desk.check("attach")
        desk.press("Attach it")
        desk.done(f"apple:{transaction} came to this customer", 2, told)
        expect(active(customer, "pro"), f"{told}: the customer still has nothing")
        self.own_event(customer, "purchase.attached", desk, told)
        desk.undo("Undo it", "T-1", told)
        expect(not active(customer, "pro"), f"{told}: the undo took nothing back")

    def other_account(self):
        told, desk = "another account", self.support
        customer, other = self.name("lea"), self.name("lea-new")
        transaction = buy(customer, "level2")
        desk.search(transaction)
        desk.says("level2 access", told)
        desk.fill("to", other, f'form[action$="{urllib.parse.quote(f"apple:{transaction}", safe="")}/transfer"]')
        desk.press("Show what it changes", f'form[action$="{urllib.parse.quote(f"apple:{transaction}", safe="")}/transfer"]')
        desk.check("transfer")
        desk.give_reason("T-2")
        desk.press("Move it")
        desk.done(f"apple:{transaction} went to {other}", 2, told)
        expect(active(other, "level2") and not active(customer, "level2"), f"{told}: nothing moved")
        self.own_event(customer, "purchase.detached", desk, told)
        desk.undo("Undo it", "T-2", told)
        expect(active(customer, "level2"), f"{told}: the undo moved nothing back")

    def apology(self):
        told, desk, customer = "days as an apology", self.support, self.name("tom")
        buy(customer, "coins.100")
        desk.search(customer)
        form = 'form[action$="/grant"]'
        desk.fill("entitlement", "pro", form)
        desk.fill("for", "P7D", form)
        desk.press("Show what it changes", form)
        desk.says("pro never held", told)
        desk.check("grant-ready")
        desk.give_reason("T-3", "sorry for the outage")
        desk.press("Give it")
        desk.done("pro was given until", 2, told)
        desk.check("customer-done")
        self.own_event(customer, "grant.given", desk, told)
        expect(active(customer, "pro"), f"{told}: nothing was given")
        desk.undo("Revoke it", "T-3", told)
        expect(not active(customer, "pro"), f"{told}: the undo took nothing back")

    def refunded(self):
        told, desk = "was I refunded, when does it end, did it renew", self.support
        customer, renewing = self.name("ida"), self.name("kim")
        transaction = buy(customer, "pro.month")
        step(do="refund", customer=customer, transaction=transaction)
        expect(eventually(lambda: not active(customer, "pro")), f"{told}: the refund did not arrive")
        desk.search(transaction)
        desk.says("pro no access", told)
        desk.says("refunded", told)
        desk.check("customer-refunded")
        other = buy(renewing, "pro.month")
        ask("POST", f"{STORE}/practice/advance", {"by": "P33D"}, key=None)
        expect(eventually(lambda: any(
            event["type"] == "subscription.renewed" for event in events(renewing))),
            f"{told}: nothing was renewed")
        desk.search(other)
        desk.says("pro.month was renewed, paid until", told)
        desk.says("pro access", told)
        expect(desk.presses == 0, f"{told}: it took {desk.presses} presses")

    def two_accounts(self):
        told, desk = "a second account", self.support
        customer, other = self.name("gus"), self.name("gus-two")
        buy(customer, "level2")
        buy(other, "coins.100")
        desk.search(customer)
        form = 'form[action$="/merge"]'
        desk.fill("into", other, form)
        desk.press("Show what it changes", form)
        desk.check("merge")
        desk.give_reason("T-5")
        desk.press("Merge them")
        desk.done(f"The customer became part of {other}", 2, told)
        desk.says(f"This customer is now part of {other}", told)
        expect(active(other, "level2"), f"{told}: nothing was merged")
        self.own_event(customer, "customer.merged", desk, told)
        desk.undo("Undo it", "T-5", told)
        expect(not active(other, "level2"), f"{told}: the undo parted nothing")

    def tester(self):
        told, desk, customer = "a sandbox tester", self.support, self.name("pia")
        buy(customer, "pro.month")
        desk.search(customer)
        desk.says("This is the sandbox, where testers buy without money", told)
        desk.press("Look at production")
        desk.says("This is production", told)
        expect(desk.presses <= 2, f"{told}: it took {desk.presses} presses")
        desk.check("customer-empty")

    def erasing(self):
        told, desk, customer = "erasing a person", self.admin, self.name("eve")
        buy(customer, "pro.month")
        desk.search(customer)
        desk.press("Erase the person")
        desk.says("What is erased cannot be brought back", told)
        desk.check("erase")
        desk.fill("id", customer)
        desk.give_reason("T-7", "asked for it by mail")
        desk.press("Erase for ever")
        desk.done("The customer was erased", 2, told)
        self.own_event(customer, "customer.erased", desk, told)

    def again(self):
        told, desk, customer = "sending an event again", self.admin, self.name("ben")
        buy(customer, "level2")
        arrived = lambda: [event for event in Receiver.received if event]
        expect(eventually(lambda: bool(arrived())), f"{told}: nothing arrived")
        time.sleep(1)
        desk.search(customer)
        section = 'section[aria-labelledby="attempts"]'
        found = desk.driver.find_elements(By.CSS_SELECTOR, section + " table")
        expect(bool(found), f"{told}: the page shows no attempt: {desk.text}")
        desk.check("customer-webhook")
        before = len(arrived())
        desk.press("Send again", section)
        desk.says("The event is being sent again", told)
        expect(desk.presses <= 2, f"{told}: it took {desk.presses} presses")
        expect(eventually(lambda: len(arrived()) > before), f"{told}: nothing arrived again")
        desk.check("webhook")

    def evidence(self):
        told, customer = "proving evidence again", self.name("amy")
        buy(customer, "level2")
        # Evidence for one of the customer's purchases comes with the store's statement.
        transaction = buy(customer, "pro.month")
        step(do="refund", customer=customer, transaction=transaction)
        expect(eventually(lambda: not active(customer, "pro")), f"{told}: the refund did not arrive")
        for desk in (self.support, self.admin):
            desk.search(transaction)
            desk.press("Prove again")
            desk.says("Verified: Apple signed this evidence", told)
            expect(desk.presses == 1, f"{told}: it took {desk.presses} presses")
            desk.check(f"evidence-{'admin' if desk is self.admin else 'support'}")
        expect("Save the bytes" not in self.support.text, f"{told}: support is offered the bytes")
        digest = hashlib.sha256(desk.save("Save the bytes", told)).hexdigest()
        desk.says(f"SHA-256 {digest}", told)
        desk.search(transaction)
        desk.press("All evidence about this customer")
        desk.check("evidence-list")
        desk.says("Prove this notification again", told)

    def keys(self):
        told, desk = "revoking a key", self.admin
        key, words = os.environ["DEED_SPARE_ID"], os.environ["DEED_SPARE_KEY"]
        path = f"{DEED}/v1/customers/{self.name('amy')}?{SANDBOX}"
        ask("GET", path, key=words)
        row = f'//tr[th[normalize-space(.)="{key}"]]'

        def last_use():
            desk.open(f"{HOME}/settings")
            cells = desk.driver.find_elements(By.XPATH, f"{row}/td")
            return cells[-2].text if cells else ""

        expect(eventually(lambda: "UTC" in last_use()), f"{told}: the key was not used last at {last_use()!r}")
        desk.presses = 0
        desk.press(f"Revoke {key}")
        desk.says("Last used, to the hour", told)
        desk.check("key")
        desk.give_reason("T-8", "it was in a public repository")
        desk.press("Revoke it for ever")
        desk.says(f"The key {key} is revoked", told)
        expect(desk.presses == 2, f"{told}: it took {desk.presses} presses")
        desk.check("settings-revoked")

        def is_refused():
            try:
                return not ask("GET", path, key=words)
            except RuntimeError as error:
                return ": 401 " in str(error)

        expect(eventually(is_refused, 5), f"{told}: the key still works")
        desk.open(f"{HOME}/trail")
        desk.says("it was in a public repository", told)

    def catalog(self):
        told, desk, customer = "changing the catalog", self.admin, self.name("amy")
        desk.open(f"{HOME}/catalog")
        desk.press("Edit it")
        before = json.loads(desk.driver.find_element(By.ID, "text").get_attribute("value"))
        desk.check("catalog-edit")
        after = json.loads(json.dumps(before))
        for product in after["products"]:
            if product["id"] == "level2":
                product["entitlements"].append("pro")
        desk.fill("text", json.dumps(after)[:-1])
        desk.press("Show what it changes")
        expect(bool(desk.driver.find_elements(By.CSS_SELECTOR, '[role="alert"]')), f"{told}: half a text is taken")
        desk.check("catalog-wrong")
        desk.fill("text", json.dumps(after))
        desk.press("Show what it changes")
        desk.says("Nothing has been done yet", told)
        desk.says("product level2", told)
        desk.says(f"{customer} sandbox pro", told)
        desk.check("catalog-change")
        expect(not active(customer, "pro"), f"{told}: it was done before it was wanted")
        self.replace_catalog(desk, "level2 is pro, too", told)
        desk.check("catalog-done")
        expect(eventually(lambda: active(customer, "pro")), f"{told}: nothing was gained")
        desk.press("Earlier catalogs")
        desk.says("level2 is pro, too", told)
        desk.check("catalog-history")
        links = desk.driver.find_elements(By.PARTIAL_LINK_TEXT, "Change ")
        expect(len(links) >= 2, f"{told}: the history has {len(links)} catalogs")
        desk.leave(links[1].click)
        desk.check("catalog-past")
        desk.press("Go back to this catalog")
        desk.says("This is the catalog at version", told)
        desk.press("Show what it changes")
        self.replace_catalog(desk, "back again", told)
        expect(eventually(lambda: not active(customer, "pro")), f"{told}: nothing was taken back")
        present = ask("GET", f"{DEED}/v1/catalog")["catalog"]
        expect(present == before, f"{told}: the way back led to {present}")

    def replace_catalog(self, desk, reason, told):
        desk.give_reason("T-9", reason)
        desk.press("Replace the catalog")
        desk.says("The catalog is now version", told)

    def figures(self):
        told, desk = "figures", self.admin
        ask("POST", f"{STORE}/practice/advance", {"by": "PT2H"}, key=None)

        def is_counted():
            desk.open(f"{HOME}/figures?{SANDBOX}")
            return re.search(r"\blevel2 [1-9]", desk.text)

        expect(eventually(is_counted), f"{told}: they were not counted: {desk.text}")
        desk.check("figures-sandbox")
        lines = desk.save("Active customers by entitlement as CSV", told).decode().splitlines()
        expect(lines[:1] == ['"Entitlement","Now","A week ago"'], f"{told}: the file begins with {lines[:1]}")
        for line in lines[1:]:
            desk.says(" ".join(json.loads(f"[{line}]")), told)

    def all(self):
        return [self.paid_and_has_nothing, self.other_account, self.apology, self.refunded,
                self.two_accounts, self.tester, self.erasing, self.again, self.evidence, self.keys,
                self.catalog, self.figures]


def look_at_pages(desk, mark):
    """Opens the pages to which no task leads."""
    customer = f"ida-{mark}"
    place = f"{HOME}/customers/{customer}"
    first = events(customer)[0]["recorded_at"]
    for name, path in [
        ("home", ""), ("find-none", "/find?q=zzzz"), ("find-many", "/find?q=g"), ("unclaimed", f"/unclaimed?{SANDBOX}"),
        ("refunds", f"/refunds?{SANDBOX}"), ("intake", "/intake"), ("webhooks", "/webhooks"), ("catalog", "/catalog"),
        ("settings", "/settings"), ("trail", "/trail"), ("missing", "/intake/nothing"),
        ("figures", "/figures"), ("intake-refused", "/intake?state=refused"),
    ]:
        desk.open(HOME + path)
        desk.check(name)
    for name, rest in [
        ("customer-past", f"?{SANDBOX}&at={first}&known={first}"), ("grant-form", f"/grant?{SANDBOX}"),
        ("merge-form", f"/merge?{SANDBOX}"),
    ]:
        desk.open(place + rest)
        desk.check(name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--without-script", action="store_true")
    parser.add_argument("--screenshots")
    parser.add_argument("--only")
    options = parser.parse_args()
    mark = "plain" if options.without_script else "script"
    if options.screenshots:
        os.makedirs(options.screenshots, exist_ok=True)
    ask("PATCH", f"{DEED}/v1/settings", {"support_limits": {"pro": "P30D"}})
    ask("POST", f"{DEED}/v1/webhooks", {"url": receive(), "environment": "sandbox"})
    desks = []
    try:
        for email in ("admin", "support"):
            desk = Desk(not options.without_script, options.screenshots)
            desks.append(desk)
            address = f"{email}-{mark}@example.com"
            desk.person = os.environ[f"DEED_{email.upper()}"]
            desk.sign_up(os.environ[f"DEED_{email.upper()}_LINK"], address)
        desks[0].second_factor(f"admin-{mark}@example.com")
        cases = Cases(*desks, mark)
        for case in cases.all():
            if options.only and case.__name__ not in options.only.split(","):
                continue
            try:
                case()
            except (WebDriverException, RuntimeError) as error:
                complain(f"{case.__name__}: {str(error).splitlines()[0]} on {[desk.driver.current_url for desk in desks]}: {desks[1].text}")
        if not options.only or "pages" in options.only.split(","):
            look_at_pages(desks[0], mark)
    finally:
        for desk in desks:
            desk.close()
    if complaints:
        sys.exit(1)
    print("every task was done and every page is in order")


main()
