import API
import Core
import Foundation
import HTTPServer
import JSON
import Minting
import Service
import TestSupport

/// A service with the console, a catalog, an app, and one person for each role.
struct Desk {
    static let password = "correct horse battery"
    static let catalog = """
        {"products":[
          {"id":"coins.100","kind":"consumable","credits":{"coins":100}},
          {"id":"level2","kind":"non_consumable","entitlements":["level2"]},
          {"id":"pro.month","kind":"auto_renewable","group":"pro","level":1,"entitlements":["pro"]}],
         "entitlements":{"pro":{},"level2":{}},"currencies":{"coins":{}}}
        """

    let service: TestService
    let admin: NewKey
    let backend: NewKey
    let store = MintedStore()

    init(isSecure: Bool = true) throws {
        service = try TestService(console: isSecure)
        admin = try service.key(.admin)
        backend = try service.key(.backend)
        for (target, body) in [
            ("/v1/catalog", Desk.catalog), ("/v1/apps/\(Payload.bundleID)", "{}"),
        ] {
            let reply = service.send("PUT", target, key: admin, body: body)
            if reply.status != 200 { throw Unexpected(answer: reply.text) }
        }
        let limits = #"{"support_limits":{"pro":"P30D"}}"#
        _ = service.send("PATCH", "/v1/settings", key: admin, body: limits)
    }

    struct Unexpected: Error {
        let answer: String
    }

    /// Creates a person with a password.
    @discardableResult
    func person(
        _ email: String, _ role: Role, in project: String = "default"
    ) throws -> Person {
        let people = service.useCases.people
        guard let address = EmailAddress(email),
            let link = try people.create(address, role, in: ProjectID(project))
        else { throw Unexpected(answer: email) }
        let chosen = try service.useCases.signIns.choose(Desk.password, byLink: link.secret)
        if chosen != .chosen { throw Unexpected(answer: "\(chosen)") }
        return link.person
    }

    /// Returns a browser in which the person is signed in.
    func browser(_ email: String) throws -> Browser {
        let browser = Browser(service)
        let reply = browser.signIn(email, Desk.password)
        if reply.status != 303 { throw Unexpected(answer: reply.text) }
        return browser
    }

    /// Returns a browser in which a new person is signed in.
    func visitor(
        _ email: String, _ role: Role, in project: String = "default"
    ) throws -> Browser {
        try person(email, role, in: project)
        return try browser(email)
    }

    /// Sets up a second factor for the person in the browser.
    func setUpFactor(
        _ browser: Browser, code: String = ""
    ) throws -> (app: CodeApp, emergencyCodes: [String]) {
        _ = browser.get(Browser.yourSignIn)
        let shown = browser.change("offer", code: code)
        guard let app = CodeApp(page: shown.text.unescaped) else {
            throw Unexpected(answer: shown.text)
        }
        let codes = browser.prove(shown, app.code(at: service.clock.now))
        let shownCodes = codes.text.matches(of: /<li><code>([0-9a-z-]+)<\/code><\/li>/)
        if shownCodes.isEmpty { throw Unexpected(answer: codes.text) }
        return (app, shownCodes.map { String($0.1) })
    }

    func submit(_ sales: Sale..., for customer: String = "u1") -> Reply {
        let body: JSON = [
            "signed_transactions": .array(sales.map { .string(store.transaction($0)) })
        ]
        return service.send(
            "POST", "/v1/customers/\(customer)/receipts", key: backend, body: body.text)
    }

    /// Reports a purchase that no customer claims, as the store does.
    func leave(_ transaction: String) -> Reply {
        var sale = Sale(transaction, "level2", .nonConsumable, at: daysAgo(1))
        sale.token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
        let body = store.notification(
            "ONE_TIME_CHARGE", id: "n-\(transaction)", at: daysAgo(0),
            transaction: store.transaction(sale))
        return service.send("POST", "/v1/stores/apple/notifications", body: body)
    }

    func daysAgo(_ days: Int64) -> Instant {
        service.clock.now.advanced(byMilliseconds: -days * 86_400_000)
    }
}

/// A browser without scripts. It keeps a cookie, follows no redirects, and reports the origin of forms.
final class Browser {
    let service: TestService
    var cookie: String?
    /// The cookie of a sign-in that still needs a code.
    var begun: String?
    /// The value of `Sec-Fetch-Site` when the browser sends a form; `nil` for an old browser.
    var site: String? = "same-origin"
    var origin: String?
    /// How the browser's requests arrive; `nil` if unknown.
    var way: RequestWay?
    private var formToken = ""

    init(_ service: TestService, cookie: String? = nil) {
        self.service = service
        self.cookie = cookie
    }

    func get(_ target: String) -> Reply {
        let reply = service.sendUnchecked("GET", target, headers: headers(isForm: false), way: way)
        if let found = reply.text.firstMatch(of: /name="form" value="([^"]+)"/) {
            formToken = String(found.1)
        }
        return reply
    }

    /// Sends a form with the token of the last opened page.
    func post(_ target: String, _ fields: [String: String] = [:], token: String? = nil) -> Reply {
        var fields = fields
        fields["form"] = token ?? formToken
        let reply = service.sendUnchecked(
            "POST", target, headers: headers(isForm: true), body: Browser.encoded(fields), way: way)
        keepCookie(of: reply)
        return reply
    }

    func signIn(_ email: String, _ password: String, next: String = "") -> Reply {
        post("/console/sign-in", ["email": email, "password": password, "next": next])
    }

    static let yourSignIn = "/console/your-sign-in"

    /// Presses a button on the page about the person's own sign-in.
    func change(_ act: String, code: String = "", password: String = Desk.password) -> Reply {
        post(Browser.yourSignIn, ["do": act, "password": password, "code": code])
    }

    /// Proves a secret that a page has shown.
    func prove(_ shown: Reply, _ code: String) -> Reply {
        post(
            Browser.yourSignIn, Browser.hidden(in: shown.text).merging(["code": code]) { $1 })
    }

    /// Gives the code after the password.
    func finish(_ code: String, next: String = "") -> Reply {
        post("/console/sign-in/code", ["code": code, "next": next])
    }

    /// Fills in a form, then presses the button on the preview.
    func act(_ target: String, _ fields: [String: String]) -> Reply {
        _ = get(target)
        var all = fields
        all["step"] = "show"
        let shown = post(target, all)
        if shown.status != 200 { return shown }
        return press(shown, at: target)
    }

    /// Presses the button on a page that shows what would change.
    func press(_ shown: Reply, at target: String) -> Reply {
        post(target, Browser.hidden(in: shown.text))
    }

    static func hidden(in text: String) -> [String: String] {
        let form = text.components(separatedBy: "<main").last ?? ""
        var fields: [String: String] = [:]
        for field in form.matches(of: /<input type="hidden" name="([^"]+)" value="([^"]*)">/) {
            fields[String(field.1)] = String(field.2).unescaped
        }
        return fields
    }

    private func headers(isForm: Bool) -> [(String, String)] {
        var headers = [("Host", "deed.example")]
        let cookies = [cookie, begun].compactMap(\.self)
        if !cookies.isEmpty { headers.append(("Cookie", cookies.joined(separator: "; "))) }
        if isForm, let site { headers.append(("Sec-Fetch-Site", site)) }
        if isForm, let origin { headers.append(("Origin", origin)) }
        return headers
    }

    private func keepCookie(of reply: Reply) {
        for set in reply.headers where set.name == "Set-Cookie" {
            let pair = String(set.value.split(separator: ";")[0])
            let kept = pair.hasSuffix("=") ? nil : pair
            if pair.contains("-code=") { begun = kept } else { cookie = kept }
        }
    }

    static func encoded(_ fields: [String: String]) -> String {
        fields.sorted { $0.key < $1.key }.map { "\(escaped($0.key))=\(escaped($0.value))" }
            .joined(separator: "&")
    }

    static func escaped(_ text: String) -> String {
        let plain = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}

extension String {
    /// The text that a browser shows for HTML without tags.
    var unescaped: String {
        var text = self
        for (escape, character) in [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"),
        ] {
            text = text.replacingOccurrences(of: escape, with: character)
        }
        while let found = text.firstMatch(of: /&#(\d+);/) {
            let scalar = UInt32(found.1).flatMap(Unicode.Scalar.init)
            text.replaceSubrange(found.range, with: scalar.map(String.init) ?? "?")
        }
        return text.replacingOccurrences(of: "&amp;", with: "&")
    }

    /// The readable text of a page, with single spaces.
    var shown: String {
        let text = replacing(/<[^>]*>/, with: " ").unescaped
        return text.split { $0.isWhitespace }.joined(separator: " ")
    }
}
