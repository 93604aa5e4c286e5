import Core
import Foundation
import HTTPServer
import Service
import Synchronization
import TestSupport
import Testing

// Tests of signing in with a code.
extension SecondFactorTests {
    @Test("Signing in takes the password and then a code; the password alone opens no page")
    func twoSteps() throws {
        let next = "\(SecondFactorTests.home)/find?q=a"
        let visitor = Browser(desk.service)
        let first = visitor.signIn(SecondFactorTests.ann, Desk.password, next: next)
        let place = "/console/sign-in/code?next=%2Fconsole%2Fp%2Fdefault%2Ffind%3Fq%3Da"
        #expect(first.header("Location") == place)
        let cookies = first.headers.filter { $0.name == "Set-Cookie" }.map(\.value)
        let value = try #require(visitor.begun)
        #expect(cookies == ["\(value); Path=/; HttpOnly; SameSite=Strict; Secure"])
        #expect(value.hasPrefix("__Host-deed-code="))
        #expect(visitor.get(place).text.contains("name=\"next\" value=\"\(next)\""))
        let secret = value.split(separator: "=")[1]
        let posing = Browser(desk.service, cookie: "__Host-deed=\(secret)")
        for stranger in [visitor, posing] {
            #expect(stranger.get(SecondFactorTests.home).status == 303)
            #expect(stranger.get(Browser.yourSignIn).status == 303)
        }
        visitor.site = "cross-site"
        #expect(visitor.finish(code()).status == 403)
        visitor.site = "same-origin"
        let wrong = visitor.finish("000000", next: next)
        #expect(wrong.status == 403 && wrong.text.contains("name=\"next\" value=\"\(next)\""))
        let second = visitor.finish(code(), next: next)
        #expect(second.status == 303 && second.header("Location") == next)
        #expect(visitor.begun == nil && visitor.get(SecondFactorTests.home).status == 200)
        #expect(Browser(desk.service).get("/console/sign-in/code").status == 303)
        #expect(try count("begun_sign_ins") == 0)
    }

    @Test("A code counts once, on every instance, also for two at once")
    func replay() throws {
        let beside = try TestService(beside: desk.service, console: true)
        for _ in 0..<5 {
            wait(60_000)
            let code = code()
            let visitors = try [begun(), begun(at: beside), begun(), begun(at: beside)]
            #expect(try signedIn(visitors) { $0.finish(code).status } == 1)
            // With the three that failed, these are six attempts in total. The next four are
            // therefore within the limit of ten.
            for late in try [begun(), begun(at: beside)] {
                #expect(late.finish(code).status == 403)
            }
            // Earlier codes no longer work either.
            #expect(try begun().finish(self.code(-1)).status == 403)
        }
    }

    @Test("An emergency code counts once, on every instance, also for two at once")
    func emergencies() throws {
        let beside = try TestService(beside: desk.service, console: true)
        for code in emergencyCodes.prefix(5) {
            let visitors = try [begun(), begun(at: beside), begun(), begun(at: beside)]
            #expect(try signedIn(visitors) { $0.finish(code).status } == 1)
            #expect(try begun(at: beside).finish(code).status == 403)
        }
        // A code still works if a person heard it and wrote it down differently.
        let heard = emergencyCodes[5].uppercased().replacing("-", with: " ")
            .replacing("0", with: "O").replacing("1", with: "l")
        #expect(try begun().finish(" \(heard) ").status == 303)
        #expect(try count("emergency_codes") == 4)
    }

    /// Lets all visitors try at the same moment. Returns how many are signed in.
    private func signedIn(_ visitors: [Browser], _ attempt: (Browser) -> Int) throws -> Int {
        let statuses = Mutex<[Int]>([])
        withoutActuallyEscaping(attempt) { attempt in
            let shared = Shared(visitors: visitors, attempt: attempt)
            DispatchQueue.concurrentPerform(iterations: visitors.count) { place in
                let status = shared.attempt(shared.visitors[place])
                statuses.withLock { $0.append(status) }
            }
        }
        let found = statuses.withLock { $0 }
        #expect(found.allSatisfy { $0 == 303 || $0 == 403 }, "\(found)")
        return found.count { $0 == 303 }
    }

    /// Gives each visitor to one thread only.
    private struct Shared: @unchecked Sendable {
        let visitors: [Browser]
        let attempt: (Browser) -> Int
    }

    @Test("A clock may be half a minute ahead or behind, and no more", arguments: -2...2)
    func skew(_ steps: Int64) throws {
        #expect(try begun().finish(code(steps)).status == (abs(steps) <= 1 ? 303 : 403))
    }

    @Test("A code can follow within five minutes, once, and not after a reset or an end")
    func begunEnds() throws {
        let people = desk.service.useCases.people
        let late = try begun()
        wait(5 * 60_000 - 1)
        #expect(late.get("/console/sign-in/code").status == 200)
        wait(1)
        #expect(late.get("/console/sign-in/code").status == 303)
        #expect(late.finish(code()).status == 401)
        let once = try begun()
        let copy = Browser(desk.service)
        copy.begun = once.begun
        #expect(once.finish(code()).status == 303)
        #expect(copy.finish(emergencyCodes[0]).status == 401)
        let ended = try begun()
        try people.end(person())
        #expect(ended.finish(emergencyCodes[0]).status == 401)
        let reset = try begun()
        let link = try people.link(of: person())
        #expect(reset.finish(emergencyCodes[0]).status == 401)
        let signIns = desk.service.useCases.signIns
        #expect(try signIns.choose(Desk.password, byLink: link.secret) == .chosen)
        #expect(reset.finish(emergencyCodes[0]).status == 401)
        // A password reset does not remove the second factor.
        let removed = try begun()
        try people.remove(person())
        #expect(removed.finish(emergencyCodes[0]).status == 401)
        for table in ["second_factors", "emergency_codes", "begun_sign_ins"] {
            #expect(try count(table) == 0, "\(table)")
        }
    }

    @Test("A sign-in that was being begun during a reset is none")
    func overtaken() throws {
        let visitor = try begun()
        let database = desk.service.database
        try database.run("create table public.begun as select * from deed.begun_sign_ins")
        _ = try desk.service.useCases.people.link(of: person())
        try database.run("insert into deed.begun_sign_ins select * from public.begun")
        #expect(visitor.finish(emergencyCodes[0]).status == 401)
    }

    @Test("A session that was opened by the password alone ends with the second factor's set-up")
    func halfSessions() throws {
        let bob = try desk.visitor("bob@example.com", .support)
        let raced = try desk.browser("bob@example.com")
        let database = desk.service.database
        try database.run(
            "create table public.opened as select * from deed.sessions where not by_code")
        _ = try desk.setUpFactor(bob)
        try database.run(
            "insert into deed.sessions select * from public.opened on conflict do nothing")
        #expect(raced.get(SecondFactorTests.home).status == 303)
        #expect(bob.get(SecondFactorTests.home).status == 200)
    }

    @Test("Another person's code, secret and browser lead nowhere")
    func others() throws {
        let bob = try desk.visitor("bob@example.com", .support)
        let (bobsApp, bobsCodes) = try desk.setUpFactor(bob)
        wait(60_000)
        let visitor = try begun()
        #expect(visitor.finish(bobsApp.code(at: desk.service.clock.now)).status == 403)
        #expect(visitor.finish(bobsCodes[0]).status == 403)
        // In Ann's browser, Bob's unfinished sign-in accepts none of Ann's codes.
        let planted = Browser(desk.service)
        planted.begun = try begun("bob@example.com").begun
        #expect(planted.finish(code()).status == 403)
        #expect(planted.signIn(SecondFactorTests.ann, Desk.password).status == 303)
        #expect(planted.finish(code()).status == 303)
        #expect(planted.get(SecondFactorTests.home).text.contains(SecondFactorTests.ann))
        // A sealed secret cannot be opened in another person's row.
        try desk.service.database.run(
            """
            update deed.second_factors set sealed = (select sealed from deed.second_factors
                where person = '\(person("bob@example.com").id)')
            where person = '\(person().id)'
            """)
        wait(60_000)
        #expect(try begun().finish(bobsApp.code(at: desk.service.clock.now)).status >= 500)
    }

    @Test("Ten tries for a person in a quarter of an hour cover codes, from everywhere together")
    func budget() throws {
        let visitor = try begun()
        for _ in 0..<10 { #expect(visitor.finish("000000").status == 403) }
        let over = visitor.finish(code())
        #expect(over.status == 429 && over.header("Retry-After") == "900")
        // An attacker who knows the password cannot lock the person out.
        #expect(try begun().finish(emergencyCodes[0]).status == 303)
        wait(15 * 60_000 + 1)
        #expect(try begun().finish(code()).status == 303)
        wait(60_000)
        let signIns = desk.service.useCases.signIns
        func outcome(_ code: String, _ address: String) throws -> SignInOutcome {
            let first = try signIns.signIn(SecondFactorTests.ann, Desk.password, from: address)
            guard case .needsCode(let begun) = first else { return first }
            return try signIns.finish(begun, code, from: address)
        }
        for number in 0..<10 { #expect(try outcome("000000", "198.51.100.\(number)") == .wrong) }
        #expect(try outcome(code(), "198.51.100.99") == .tooManyCodes(person().id))
        // Attempts on the person's own sign-in page also count.
        _ = browser.get(Browser.yourSignIn)
        #expect(browser.change("remove", code: code()).status == 429)
        wait(15 * 60_000 + 1)
        for _ in 0..<49 {
            guard case .signedIn = try outcome(code(), "203.0.113.1") else {
                Issue.record("a right code was refused")
                return
            }
            wait(30_000)
        }
    }

    @Test("Strangers at the same address do not hold up a code that follows the right password")
    func budgetOfAddress() throws {
        let visitor = try begun()
        for number in 0..<50 { _ = Browser(desk.service).signIn("p\(number)@example.com", "wrong") }
        #expect(visitor.finish(code()).status == 303)
    }

    @Test("A session without a code turns off no second factor that was set up in another one")
    func removing() throws {
        let bob = try desk.visitor("bob@example.com", .support)
        let session = try #require(bob.cookie)
        _ = try desk.setUpFactor(bob)
        let bobsID = try person("bob@example.com").id
        // A real session without a code would have ended, so the test changes this one.
        try desk.service.database.run("update deed.sessions set by_code = false")
        let factors = desk.service.useCases.signIns.factors
        let secret = session.split(separator: "=")[1].split(separator: ";")[0]
        #expect(try !factors.remove(of: bobsID, in: String(secret)))
        #expect(try person("bob@example.com").hasSecondFactor)
        try desk.service.database.run("update deed.sessions set by_code = true")
        #expect(try factors.remove(of: bobsID, in: String(secret)))
        #expect(try !person("bob@example.com").hasSecondFactor)
    }

    @Test("A session that a reset has ended sets up no second factor")
    func resetMeanwhile() throws {
        let bob = try desk.visitor("bob@example.com", .support)
        _ = bob.get(Browser.yourSignIn)
        let secret = try #require(bob.cookie).split(separator: "=")[1].split(separator: ";")[0]
        let factors = desk.service.useCases.signIns.factors
        let bobsID = try person("bob@example.com").id
        let offer = try factors.offer(to: bobsID, in: String(secret))
        let bobsApp = try #require(CodeApp(page: "otpauth://totp/x?secret=\(offer.text)&"))
        try desk.service.useCases.people.end(person("bob@example.com"))
        let code = bobsApp.code(at: desk.service.clock.now)
        #expect(try factors.take(offer, proving: code, by: bobsID, in: String(secret)) == nil)
        #expect(try !person("bob@example.com").hasSecondFactor)
    }

    @Test("Before the password is right, no answer tells who has a second factor, or exists")
    func alike() throws {
        try desk.person("bob@example.com", .support)
        func answer(_ email: String) -> String {
            let reply = Browser(desk.service).signIn(email, "wrong")
            let headers = reply.headers.map { "\($0.name): \($0.value)" }
            return "\(reply.status) \(headers) \(reply.text.replacing(email, with: "?"))"
        }
        let answers = Set(["ann@example.com", "bob@example.com", "nix@example.com"].map(answer))
        #expect(answers.count == 1)
    }
}
