import Core
import Service
import TestSupport
import Testing

/// Tests how a person sets up a second factor and signs in with it.
@Suite("The second factor", .timeLimit(.minutes(20)))
struct SecondFactorTests {
    let desk: Desk
    let browser: Browser
    let app: CodeApp
    let emergencyCodes: [String]

    static let home = "/console/p/default"
    static let ann = "ann@example.com"

    init() throws {
        desk = try Desk()
        browser = try desk.visitor(SecondFactorTests.ann, .admin)
        (app, emergencyCodes) = try desk.setUpFactor(browser)
        wait(60_000)
    }

    func wait(_ milliseconds: Int64) {
        desk.service.clock.advance(byMilliseconds: milliseconds)
    }

    func code(_ steps: Int64 = 0) -> String {
        app.code(at: desk.service.clock.now, steps: steps)
    }

    /// Returns a browser in which the right password has been entered.
    func begun(_ email: String = ann, at service: TestService? = nil) throws -> Browser {
        let browser = Browser(service ?? desk.service)
        let reply = browser.signIn(email, Desk.password)
        #expect(reply.status == 303, "\(reply.text)")
        #expect(reply.header("Location") == "/console/sign-in/code")
        #expect(browser.cookie == nil)
        _ = try #require(browser.begun)
        return browser
    }

    func count(_ table: String) throws -> Int64 {
        try desk.service.database.number("select count(*) from deed.\(table)")
    }

    func person(_ email: String = ann) throws -> Person {
        try #require(try EmailAddress(email).flatMap { try desk.service.useCases.people.find($0) })
    }

    @Test("It counts once a code has proved the secret, and the password is asked for before")
    func settingUp() throws {
        let bob = try desk.visitor("bob@example.com", .support)
        let other = try desk.browser("bob@example.com")
        #expect(bob.get(SecondFactorTests.home).text.contains("href=\"/console/your-sign-in\""))
        _ = bob.get(Browser.yourSignIn)
        #expect(bob.change("offer", password: "wrong").status == 403)
        let shown = bob.change("offer")
        let bobsApp = try #require(CodeApp(page: shown.text.unescaped))
        #expect(shown.text.contains("otpauth://totp/Deed:bob%40example.com?secret="))
        #expect(shown.text.contains("<svg class=\"qr\""))
        let groups = stride(from: 0, to: 32, by: 4)
            .map { String(bobsApp.text.dropFirst($0).prefix(4)) }.joined(separator: " ")
        #expect(shown.text.contains("<code>\(groups)</code>"))
        let now = desk.service.clock.now
        for wrong in ["", "000000", bobsApp.code(at: now, steps: 2), emergencyCodes[0]] {
            let reply = bob.prove(shown, wrong)
            #expect(reply.status == 403, "\(wrong)")
            #expect(CodeApp(page: reply.text.unescaped)?.text == bobsApp.text)
        }
        #expect(try count("second_factors") == 1 && !person("bob@example.com").hasSecondFactor)
        let codes = bob.prove(shown, bobsApp.code(at: now)).text
        #expect(codes.matches(of: /<li><code>[0-9a-z]{4}(-[0-9a-z]{4}){3}<\/code>/).count == 10)
        #expect(try person("bob@example.com").hasSecondFactor)
        let page = bob.get(Browser.yourSignIn).text
        #expect(page.contains("Emergency codes left: 10.") && !page.contains(bobsApp.text))
        #expect(other.get(SecondFactorTests.home).status == 303)
    }

    @Test("The drawing has the modules of the link")
    func drawing() throws {
        let bob = try desk.visitor("bob@example.com", .support)
        _ = bob.get(Browser.yourSignIn)
        let shown = bob.change("offer").text
        let path = try #require(shown.firstMatch(of: #/ d="([^"]+)"/#)).1
        let size = try #require(
            shown.firstMatch(of: #/viewBox="0 0 (\d+) \d/#).flatMap { Int($0.1) })
        var drawn = Array(repeating: String(repeating: " ", count: size), count: size)
        for bar in path.matches(of: /M(\d+) (\d+)h(\d+)v1h-(\d+)z/) {
            let numbers = [bar.1, bar.2, bar.3, bar.4].compactMap { Int($0) }
            #expect(numbers[2] == numbers[3])
            var row = Array(drawn[numbers[1]])
            for column in numbers[0]..<numbers[0] + numbers[2] { row[column] = "#" }
            drawn[numbers[1]] = String(row)
        }
        // Three corners have the pattern that cameras look for, and the margin is empty.
        let finder = ["#######", "#     #", "# ### #", "# ### #", "# ### #", "#     #", "#######"]
        for (row, line) in finder.enumerated() {
            #expect(drawn[row + 4].dropFirst(4).hasPrefix(line))
            #expect(drawn[row + 4].dropLast(4).hasSuffix(line))
            #expect(drawn[size - 11 + row].dropFirst(4).hasPrefix(line))
        }
        #expect(drawn[3].allSatisfy { $0 == " " } && drawn[size - 4].allSatisfy { $0 == " " })
        let uri = try #require(shown.unescaped.firstMatch(of: /otpauth:[^<]+/)).output
        #expect(
            try drawn[4..<size - 4].map { String($0.dropFirst(4).dropLast(4)) }
                == QRProgram.rows(String(uri)))
    }

    @Test("With the password and a code it is renewed and turned off, with a wrong one not")
    func changes() throws {
        _ = browser.get(Browser.yourSignIn)
        for act in ["offer", "codes", "remove"] {
            #expect(browser.change(act, code: "000000").status == 403, "\(act)")
            #expect(browser.change(act, code: code(), password: "wrong").status == 403, "\(act)")
        }
        let renewed = browser.change("codes", code: code())
        #expect(renewed.status == 200)
        #expect(try begun().finish(emergencyCodes[0]).status == 403)
        let new = try #require(renewed.text.firstMatch(of: /<li><code>([^<]+)</)).1
        #expect(try begun().finish(String(new)).status == 303)
        wait(60_000)
        let shown = browser.change("offer", code: code())
        let newApp = try #require(CodeApp(page: shown.text.unescaped))
        // The old secret works until the person proves the new one.
        wait(60_000)
        #expect(try begun().finish(code()).status == 303)
        wait(60_000)
        #expect(browser.prove(shown, newApp.code(at: desk.service.clock.now)).status == 200)
        wait(60_000)
        #expect(try begun().finish(code()).status == 403)
        #expect(try begun().finish(newApp.code(at: desk.service.clock.now)).status == 303)
        wait(60_000)
        _ = browser.get(Browser.yourSignIn)
        let off = browser.change("remove", code: newApp.code(at: desk.service.clock.now))
        #expect(off.status == 303)
        #expect(try !person().hasSecondFactor && count("emergency_codes") == 0)
        #expect(try desk.browser(SecondFactorTests.ann).get(SecondFactorTests.home).status == 200)
    }

    @Test("An offered secret is for one session, a quarter of an hour, and one state")
    func offers() throws {
        let bob = try desk.visitor("bob@example.com", .support)
        let other = try desk.browser("bob@example.com")
        for browser in [bob, other] { _ = browser.get(Browser.yourSignIn) }
        let shown = bob.change("offer")
        let bobsApp = try #require(CodeApp(page: shown.text.unescaped))
        func fields(_ reply: Reply) -> [String: String] {
            let offer = Browser.hidden(in: reply.text)["offer"] ?? ""
            let code = bobsApp.code(at: desk.service.clock.now)
            return ["do": "prove", "offer": offer, "code": code]
        }
        #expect(other.post(Browser.yourSignIn, fields(shown)).status == 403)
        var changed = fields(shown)
        changed["offer"] = String(changed["offer"]?.dropLast(2) ?? "") + "00"
        #expect(bob.post(Browser.yourSignIn, changed).status == 403)
        wait(15 * 60_000)
        #expect(bob.post(Browser.yourSignIn, fields(shown)).status == 403)
        let again = bob.change("offer")
        _ = try desk.setUpFactor(bob)
        let text = Browser.hidden(in: again.text)["offer"] ?? ""
        let app = try #require(CodeApp(page: again.text.unescaped))
        wait(60_000)
        let code = app.code(at: desk.service.clock.now)
        let stale = bob.post(Browser.yourSignIn, ["do": "prove", "offer": text, "code": code])
        #expect(stale.status == 403)
    }

    @Test("Where it is required, a person without one sees its set-up and nothing else")
    func required() throws {
        let strict = try TestService(
            beside: desk.service, console: true, requiresSecondFactor: true)
        try desk.person("bob@example.com", .admin)
        let bob = Browser(strict)
        #expect(bob.signIn("bob@example.com", Desk.password).status == 303)
        let page = bob.get(Browser.yourSignIn)
        #expect(page.text.contains("The operator requires a second factor"))
        let places = PermissionTests.rows.filter {
            $0.roles != nil && !$0.call.contains("sign")
        }
        #expect(places.count > 40)
        for row in places {
            if row.call.hasPrefix("GET") {
                let reply = bob.get(row.target)
                #expect(reply.status == 303, "\(row.call)")
                #expect(reply.header("Location") == Browser.yourSignIn, "\(row.call)")
            } else {
                #expect(bob.post(row.target, row.fields).status == 403, "\(row.call)")
            }
        }
        _ = bob.get(Browser.yourSignIn)
        let shown = bob.change("offer")
        let bobsApp = try #require(CodeApp(page: shown.text.unescaped))
        let now = desk.service.clock.now
        #expect(bob.prove(shown, bobsApp.code(at: now)).status == 200)
        #expect(bob.get(SecondFactorTests.home).status == 200)
        #expect(!bob.get(Browser.yourSignIn).text.contains("value=\"remove\""))
        wait(60_000)
        let code = bobsApp.code(at: desk.service.clock.now)
        #expect(bob.change("remove", code: code).status == 403)
        #expect(try person("bob@example.com").hasSecondFactor)
    }

    @Test("An operator removes the lost one together with the password")
    func lost() throws {
        let people = desk.service.useCases.people
        let link = try people.link(of: person(), removingSecondFactor: true)
        #expect(try !person().hasSecondFactor && count("emergency_codes") == 0)
        let signIns = desk.service.useCases.signIns
        #expect(try signIns.choose(Desk.password, byLink: link.secret) == .chosen)
        #expect(try desk.browser(SecondFactorTests.ann).get(SecondFactorTests.home).status == 200)
    }
}
