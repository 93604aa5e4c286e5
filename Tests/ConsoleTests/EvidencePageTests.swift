import API
import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

/// Tests how people prove and save the evidence for a customer's rights.
@Suite("Evidence in the console", .timeLimit(.minutes(10)))
struct EvidencePageTests {
    private static let place = "/console/p/default/customers/u1"
    private static let proven =
        "Verified: Apple signed this evidence, as today's roots confirm."
    private let desk: Desk
    private let browser: Browser
    /// The transaction that the app submitted.
    private let signed: String

    init() throws {
        desk = try Desk()
        browser = try desk.visitor("ann@example.com", .admin)
        let sale = Sale("1", "level2", .nonConsumable, at: desk.daysAgo(1))
        signed = desk.store.transaction(sale)
        let body: JSON = ["signed_transactions": [.string(signed)]]
        let reply = desk.service.send(
            "POST", "/v1/customers/u1/receipts", key: desk.backend, body: body.text)
        #expect(reply.status == 200, "\(reply.text)")
    }

    /// Presses the first button that proves a transaction's evidence.
    private func proof(_ browser: Browser) throws -> Reply {
        let page = browser.get(EvidencePageTests.place).text
        let button = #/<button class="quiet" name="event" value="(\d+)">Prove again/#
        let found = try #require(page.firstMatch(of: button), "\(page)")
        return browser.get("\(EvidencePageTests.place)/evidence?event=\(found.1)")
    }

    private func file(in page: Reply) throws -> String {
        let link = try #require(page.text.firstMatch(of: #/href="([^"]+/file)"/#), "\(page.text)")
        return String(link.1)
    }

    @Test("A button proves the evidence of a transaction again, and says who signed what, and when")
    func proven() throws {
        let page = try proof(browser)
        #expect(page.status == 200)
        let text = page.text.shown
        #expect(text.contains(EvidencePageTests.proven), "\(text)")
        #expect(text.contains("signed transaction") || text.contains("transaction"), "\(text)")
        #expect(text.contains("It states transaction 1"), "\(text)")
        #expect(text.contains(Payload.bundleID))
    }

    @Test(
        "The saved bytes are the bytes that the app submitted, and a browser does not show them as a page"
    )
    func saved() throws {
        let file = browser.get(try self.file(in: try proof(browser)))
        #expect(file.status == 200 && file.text == signed)
        #expect(file.header("Content-Type") == "application/octet-stream")
        #expect(file.header("Content-Disposition")?.hasPrefix("attachment; ") ?? false)
        #expect(file.header("X-Content-Type-Options") == "nosniff")
    }

    @Test(
        "Support and readers prove evidence and do not save it", arguments: [Role.support, .reader])
    func lesser(_ role: Role) throws {
        let file = try self.file(in: try proof(browser))
        let bob = try desk.visitor("bob@example.com", role)
        let page = try proof(bob)
        #expect(page.text.shown.contains(EvidencePageTests.proven))
        #expect(!page.text.contains("/file\"") && !page.text.contains("Save the bytes"))
        let refused = bob.get(file)
        #expect(refused.status == 403 && !refused.text.contains(signed))
    }

    @Test("Bytes that were changed in the database are not what was believed")
    func damaged() throws {
        try desk.service.database.run(
            "update deed.evidence set content = content || '\\x00'::bytea")
        let page = try proof(browser)
        #expect(
            page.text.shown.contains("This is not the evidence that Deed believed"),
            "\(page.text.shown)")
        #expect(!page.text.shown.contains(EvidencePageTests.proven))
    }

    @Test("A column that was changed beside whole bytes is found, too")
    func altered() throws {
        try desk.service.database.run("update deed.evidence set signed_at = signed_at - 1")
        #expect(
            try proof(browser).text.shown.contains("This is not the evidence that Deed believed"))
    }

    @Test(
        "The roots of today decide: what they do not vouch for is not proven, and the page says why"
    )
    func untrusted() throws {
        let strict = try TestService(beside: desk.service, asking: [], console: true)
        let there = Browser(strict)
        #expect(there.signIn("ann@example.com", Desk.password).status == 303)
        let text = try proof(there).text.shown
        #expect(text.contains("Not verified: "), "\(text)")
        #expect(!text.contains(EvidencePageTests.proven))
    }

    @Test("Of an erased customer nothing is left to prove or to save")
    func erased() throws {
        let page = try proof(browser)
        let file = try self.file(in: page)
        let look = desk.service.send(
            "POST", "/v1/customers/u1/erase", key: desk.admin,
            body: #"{"purchases":"forget","reason":"asked for"}"#)
        let intent = try #require(try look.json["intent"]?.string, "\(look.text)")
        let done = desk.service.send(
            "POST", "/v1/customers/u1/erase", key: desk.admin,
            body: #"{"purchases":"forget","reason":"asked for","intent":"\#(intent)"}"#)
        #expect(done.status == 200, "\(done.text)")
        #expect(!browser.get(file).text.contains(signed))
    }

    @Test("Evidence of a purchase that waited for its customer is in the list")
    func waited() throws {
        #expect(desk.leave("4").status == 200)
        let body = #"{"customer":"u2","reason":"found","ticket":"T-1"}"#
        let attached = desk.service.send(
            "POST", "/v1/unclaimed/apple:4/attach", key: desk.admin, body: body)
        #expect(attached.status == 200, "\(attached.text)")
        let place = "/console/p/default/customers/u2"
        #expect(browser.get(place).text.contains("<a href=\"\(place)/evidence\">"))
        let list = browser.get("\(place)/evidence").text
        let link = try #require(
            list.firstMatch(of: #/href="([^"]+evidence=[0-9a-f]{64})"/#), "\(list)")
        let page = browser.get(String(link.1)).text.shown
        #expect(
            page.contains(EvidencePageTests.proven) && page.contains("transaction 4"), "\(page)")
        #expect(browser.get("\(place)/evidence?event=1").status == 404)
    }

    @Test(
        "Another customer's evidence, and what is no digest or event, is refused and shown as text")
    func others() throws {
        let digest = try #require(
            try proof(browser).text.firstMatch(of: #/<code>([0-9a-f]{64})</#)
        ).1
        let other = "/console/p/default/customers/u2/evidence"
        #expect(browser.get("\(other)?evidence=\(digest)").status == 400)
        #expect(browser.get("\(other)/\(digest)/file").status == 400)
        #expect(browser.get("\(other)?environment=sandbox&evidence=\(digest)").status == 400)
        for odd in ["event=x", "event=0", "event=-1", "evidence=%3Cscript%3E", "event=%3Cimg%3E"] {
            let page = browser.get("\(EvidencePageTests.place)/evidence?\(odd)")
            #expect(page.status == 400, "\(odd): \(page.status)")
            #expect(!page.text.contains("<script>") && !page.text.contains("<img>"))
        }
        #expect(browser.get("\(EvidencePageTests.place)/evidence?event=999").status == 404)
        #expect(browser.get("\(other)?after=zz").text.contains("No evidence is stored"))
    }
}
