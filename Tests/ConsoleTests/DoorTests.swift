import API
import Core
import HTTPServer
import Service
import Synchronization
import TestSupport
import Testing

/// Tests signing in and out, and attacks with stolen or foreign forms.
@Suite("The door of the console", .timeLimit(.minutes(20)))
struct DoorTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.person("ann@example.com", .admin)
    }

    private static let home = "/console/p/default"

    @Test("The cookie is a secret of the browser alone, and the database has only its digest")
    func cookie() throws {
        let browser = Browser(desk.service)
        let reply = browser.signIn("Ann@Example.com", Desk.password)
        #expect(reply.status == 303 && reply.header("Location") == "/console", "\(reply.text)")
        let set = try #require(reply.header("Set-Cookie"))
        let pair = String(set.split(separator: ";")[0])
        #expect(set == "\(pair); Path=/; HttpOnly; SameSite=Strict; Secure")
        #expect(pair.hasPrefix("__Host-deed=") && pair.utf8.count == 12 + 40)
        let secret = String(pair.dropFirst(12))
        let found = try desk.service.database.number(
            "select count(*) from deed.sessions where digest = sha256('\(secret)'::bytea)")
        #expect(found == 1)
        // Over plain HTTP on loopback, a browser refuses the cookie's prefix and its `Secure` attribute.
        let plain = try Desk(isSecure: false)
        try plain.person("ann@example.com", .admin)
        let other = Browser(plain.service)
        let second = try #require(
            other.signIn("ann@example.com", Desk.password).header("Set-Cookie"))
        #expect(second.hasPrefix("deed-console="))
        #expect(second.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
        #expect(other.get(DoorTests.home).status == 200)
    }

    @Test("Signing in makes a new session and ends the one from before")
    func fixation() throws {
        let planted = try desk.browser("ann@example.com")
        let old = try #require(planted.cookie)
        let victim = Browser(desk.service, cookie: old)
        #expect(victim.signIn("ann@example.com", Desk.password).status == 303)
        #expect(victim.cookie != old)
        #expect(planted.get(DoorTests.home).status == 303)
        #expect(victim.get(DoorTests.home).status == 200)
        // An invented cookie has no session and stays useless.
        let planned = "__Host-deed=\(String(repeating: "a", count: 40))"
        let invented = Browser(desk.service, cookie: planned)
        #expect(invented.get(DoorTests.home).status == 303)
        #expect(invented.signIn("ann@example.com", Desk.password).status == 303)
        #expect(invented.cookie != planned)
    }

    @Test("A form counts only from a page of the same address and session")
    func foreignForms() throws {
        let browser = try desk.browser("ann@example.com")
        let target = "\(DoorTests.home)/customers/u1/grant"
        let fields = ["entitlement": "pro", "for": "P1D", "reason": "r", "step": "show"]
        _ = browser.get(target)
        for site in ["cross-site", "same-site", "none", ""] {
            browser.site = site
            let reply = browser.post(target, fields)
            #expect(reply.status == 403 && reply.text.contains("Nothing was done"), "\(site)")
            #expect(browser.signIn("ann@example.com", Desk.password).status == 403, "\(site)")
        }
        browser.site = nil
        for origin in [nil, "null", "https://evil.example", "http://deed.example"] {
            browser.origin = origin
            #expect(browser.post(target, fields).status == 403, "\(origin ?? "none")")
        }
        browser.origin = "https://deed.example"
        #expect(browser.post(target, fields).status == 200)
        browser.site = "same-origin"
        for token in ["x", String(repeating: "0", count: 64)] {
            #expect(browser.post(target, fields, token: token).status == 403)
        }
        // The server also refuses a token from another session.
        let other = try desk.browser("ann@example.com")
        _ = other.get(target)
        let foreign = Browser.hidden(in: other.get(target).text)["form"]
        #expect(browser.post(target, fields, token: foreign).status == 403)
        _ = browser.get(target)
        #expect(browser.post(target, fields).status == 200)
    }

    @Test("Nothing is changed by GET, and a form's address takes nothing else")
    func byGet() throws {
        let browser = try desk.browser("ann@example.com")
        let before = try desk.service.eventCount()
        let query = "entitlement=pro&for=P1D&reason=r&step=do&version=0&mark=x"
        #expect(browser.get("\(DoorTests.home)/customers/u1/grant?\(query)").status == 200)
        #expect(browser.get("/console/sign-out").status == 405)
        #expect(try desk.service.eventCount() == before)
        #expect(browser.get(DoorTests.home).status == 200)
    }

    @Test("A session ends after half an hour without use, and after twelve hours in any case")
    func ends() throws {
        let idle = try desk.browser("ann@example.com")
        desk.service.clock.advance(byMilliseconds: 30 * 60_000 - 1)
        #expect(idle.get(DoorTests.home).status == 200)
        desk.service.clock.advance(byMilliseconds: 30 * 60_000)
        #expect(idle.get(DoorTests.home).status == 303)
        let busy = try desk.browser("ann@example.com")
        for _ in 0..<47 {
            desk.service.clock.advance(byMilliseconds: 15 * 60_000)
            #expect(busy.get(DoorTests.home).status == 200)
        }
        desk.service.clock.advance(byMilliseconds: 15 * 60_000)
        #expect(busy.get(DoorTests.home).status == 303)
    }

    @Test("Signing out, an ended or reset password and a removal count on every instance at once")
    func ended() throws {
        let beside = try TestService(beside: desk.service, console: true)
        let people = desk.service.useCases.people
        let ann = try #require(EmailAddress("ann@example.com"))
        func person() throws -> Person { try #require(try people.find(ann)) }
        func expectOut(_ browser: Browser) {
            #expect(browser.get(DoorTests.home).status == 303)
            #expect(Browser(beside, cookie: browser.cookie).get(DoorTests.home).status == 303)
        }
        let first = try desk.browser("ann@example.com")
        let cookie = try #require(first.cookie)
        #expect(Browser(beside, cookie: cookie).get(DoorTests.home).status == 200)
        _ = first.get(DoorTests.home)
        let out = first.post("/console/sign-out")
        #expect(out.status == 303 && out.header("Set-Cookie")?.contains("Max-Age=0") == true)
        expectOut(Browser(desk.service, cookie: cookie))
        let second = try desk.browser("ann@example.com")
        try people.end(person())
        expectOut(second)
        let third = try desk.browser("ann@example.com")
        _ = try people.put(.reader, of: person(), in: ProjectID("default"))
        #expect(third.get("\(DoorTests.home)/trail").status == 403)
        _ = try people.put(nil, of: person(), in: ProjectID("default"))
        #expect(third.get(DoorTests.home).status == 404)
        let link = try people.link(of: person())
        expectOut(third)
        #expect(Browser(desk.service).signIn("ann@example.com", Desk.password).status == 403)
        let chosen = try desk.service.useCases.signIns.choose(
            "another one, long", byLink: link.secret)
        #expect(chosen == .chosen)
        let fourth = Browser(desk.service)
        #expect(fourth.signIn("ann@example.com", "another one, long").status == 303)
        try people.remove(person())
        expectOut(fourth)
        #expect(Browser(desk.service).signIn("ann@example.com", "another one, long").status == 403)
    }

    @Test("A link is good once, for an hour, and a new one ends the old one")
    func links() throws {
        let people = desk.service.useCases.people
        let bob = try #require(EmailAddress("bob@example.com"))
        let link = try #require(try people.create(bob, .support, in: ProjectID("default")))
        #expect(try people.create(bob, .admin, in: ProjectID("default")) == nil)
        let browser = Browser(desk.service)
        let place = "/console/link/\(link.secret)"
        #expect(browser.get(place).status == 200)
        func choose(_ password: String, _ again: String? = nil, at place: String) -> Int {
            browser.post(place, ["password": password, "again": again ?? password]).status
        }
        #expect(choose("too short", at: place) == 400)
        #expect(choose(Desk.password, "something else", at: place) == 400)
        browser.site = "cross-site"
        #expect(choose(Desk.password, at: place) == 403)
        browser.site = "same-origin"
        #expect(choose(Desk.password, at: place) == 303)
        #expect(choose(Desk.password, at: place) == 404)
        #expect(browser.get(place).status == 404)
        let person = try #require(try people.find(bob))
        let (old, new) = (try people.link(of: person), try people.link(of: person))
        #expect(browser.get("/console/link/\(old.secret)").status == 404)
        desk.service.clock.advance(byMilliseconds: 3_600_000 - 1)
        #expect(browser.get("/console/link/\(new.secret)").status == 200)
        desk.service.clock.advance(byMilliseconds: 1)
        #expect(choose(Desk.password, at: "/console/link/\(new.secret)") == 404)
    }

    @Test("Ten tries for a person from one address in a quarter of an hour, fifty in all")
    func tries() throws {
        let browser = Browser(desk.service)
        func status(_ email: String, _ password: String) -> Int {
            browser.signIn(email, password).status
        }
        for _ in 0..<10 { #expect(status("ann@example.com", "wrong") == 403) }
        #expect(status("ann@example.com", Desk.password) == 429)
        #expect(status("nobody@example.com", "wrong") == 403)
        desk.service.clock.advance(byMilliseconds: 15 * 60_000 + 1)
        #expect(status("ann@example.com", Desk.password) == 303)
        desk.service.clock.advance(byMilliseconds: 15 * 60_000 + 1)
        for number in 0..<50 { #expect(status("p\(number)@example.com", "wrong") == 403) }
        #expect(status("ann@example.com", Desk.password) == 429)
        desk.service.clock.advance(byMilliseconds: 15 * 60_000 + 1)
        #expect(status("ann@example.com", Desk.password) == 303)
        // New counts delete old ones.
        #expect(try desk.service.database.number("select count(*) from deed.sign_in_tries") <= 3)
    }

    @Test("A person who was locked out comes in with a new password")
    func unlocked() throws {
        let browser = Browser(desk.service)
        for _ in 0..<11 { _ = browser.signIn("ann@example.com", "wrong") }
        #expect(browser.signIn("ann@example.com", Desk.password).status == 429)
        let people = desk.service.useCases.people
        let ann = try #require(EmailAddress("ann@example.com").flatMap { try people.find($0) })
        let link = try people.link(of: ann)
        let chosen = try desk.service.useCases.signIns.choose(
            "another long one", byLink: link.secret)
        #expect(chosen == .chosen)
        #expect(browser.signIn("ann@example.com", "another long one").status == 303)
    }

    @Test("Few wrong tries from elsewhere keep no person out, and a reset ends many")
    func others() throws {
        let signIns = desk.service.useCases.signIns
        func outcome(_ password: String, from address: String) throws -> SignInOutcome {
            try signIns.signIn("ann@example.com", password, from: address)
        }
        for _ in 0..<11 { _ = try outcome("wrong", from: "198.51.100.1") }
        #expect(try outcome(Desk.password, from: "198.51.100.1") == .tooManyTries)
        let browser = Browser(desk.service)
        #expect(browser.signIn("ann@example.com", Desk.password).status == 303)
        // Acts as if the tries came from many addresses.
        try desk.service.database.run(
            """
            update deed.sign_in_tries set count = 100
            where who = sha256('person ann@example.com'::bytea)
            """)
        #expect(browser.signIn("ann@example.com", Desk.password).status == 429)
        let people = desk.service.useCases.people
        let ann = try #require(EmailAddress("ann@example.com").flatMap { try people.find($0) })
        let link = try people.link(of: ann)
        #expect(
            try signIns.choose("another long one", byLink: link.secret) == .chosen)
        #expect(try outcome("another long one", from: "198.51.100.1") != .tooManyTries)
    }

    @Test("A password keeps what it cost, and is checked at that cost")
    func cost() throws {
        let database = desk.service.database
        #expect(try database.number("select cost from deed.people") == 15)
        try database.run("update deed.people set cost = 14")
        #expect(Browser(desk.service).signIn("ann@example.com", Desk.password).status == 403)
    }

    @Test("An address beyond its tries leaves no trace of the names that it tries")
    func flood() throws {
        let browser = Browser(desk.service)
        for number in 0..<60 { _ = browser.signIn("p\(number)@example.com", "wrong") }
        #expect(try desk.service.database.number("select count(*) from deed.sign_in_tries") <= 101)
    }

    @Test("An address beyond its tries keeps no one else out, and its tries are no longer written")
    func siege() throws {
        let signIns = desk.service.useCases.signIns
        let besieger = "198.51.100.1"
        for number in 0...50 {
            _ = try signIns.signIn("p\(number)@example.com", "wrong", from: besieger)
        }
        let isOver = Mutex(false)
        let outcomes = Mutex<[SignInOutcome]>([])
        inParallel(9) { index in
            if index > 0 {
                while !isOver.withLock({ $0 }) {
                    _ = try? signIns.signIn("p@example.com", "wrong", from: besieger)
                }
                return
            }
            for _ in 0..<10 {
                let outcome = try? signIns.signIn(
                    "ann@example.com", Desk.password, from: "203.0.113.1")
                outcomes.withLock { $0.append(outcome ?? .wrong) }
            }
            isOver.withLock { $0 = true }
        }
        for outcome in outcomes.withLock({ $0 }) {
            guard case .signedIn = outcome else {
                Issue.record("a person with the right password got \(outcome)")
                continue
            }
        }
        let count = try desk.service.database.number(
            "select count from deed.sign_in_tries where who = sha256('address \(besieger)'::bytea)")
        #expect(count == 51)
    }

    @Test("A session that was being opened during a reset is none")
    func overtaken() throws {
        let browser = try desk.browser("ann@example.com")
        let database = desk.service.database
        try database.run("create table public.opened as select * from deed.sessions")
        let people = desk.service.useCases.people
        let ann = try #require(EmailAddress("ann@example.com").flatMap { try people.find($0) })
        _ = try people.link(of: ann)
        try database.run("insert into deed.sessions select * from public.opened")
        #expect(browser.get(DoorTests.home).status == 303)
    }

    @Test("After signing in, only places of the console follow")
    func next() throws {
        let places: [(next: String, location: String?)] = [
            ("/console/p/default/customers/u1?environment=sandbox", nil),
            ("https://evil.example/", "/console"), ("//evil.example/console/", "/console"),
            ("/console/../v1", "/console"), ("/consolex", "/console"),
            ("/console/\\evil", "/console"),
            ("/console/\r\nX: y", "/console"),
        ]
        for (next, location) in places {
            let reply = Browser(desk.service).signIn("ann@example.com", Desk.password, next: next)
            #expect(reply.header("Location") == (location ?? next), "\(next)")
        }
        let turned = Browser(desk.service).get("\(DoorTests.home)/find?q=a%20b")
        #expect(
            turned.header("Location")
                == "/console/sign-in?next=%2Fconsole%2Fp%2Fdefault%2Ffind%3Fq%3Da%2520b")
    }
}
