import Core
import Foundation
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("The console of the program", .timeLimit(.minutes(20)))
    struct ConsoleProgram {
        private func reply(_ request: String, at port: UInt16) throws -> RawClient.Reply {
            let client = try RawClient(undocumented: port, milliseconds: 10_000)
            client.send(request)
            return try #require(client.reply())
        }

        private func get(_ path: String, at port: UInt16, cookie: String = "") throws
            -> RawClient.Reply
        {
            let line = cookie.isEmpty ? "" : "Cookie: \(cookie)\r\n"
            return try reply("GET \(path) HTTP/1.1\r\nHost: h\r\n\(line)\r\n", at: port)
        }

        private func post(
            _ path: String, _ form: String, at port: UInt16, cookie: String = ""
        ) throws -> RawClient.Reply {
            try reply(
                "POST \(path) HTTP/1.1\r\nHost: h\r\nSec-Fetch-Site: same-origin\r\n"
                    + (cookie.isEmpty ? "" : "Cookie: \(cookie)\r\n")
                    + "Content-Type: application/x-www-form-urlencoded\r\n"
                    + "Content-Length: \(form.utf8.count)\r\n\r\n\(form)", at: port)
        }

        @Test("A person is made, chooses a password by the link, signs in, and is ended")
        func life() throws {
            let deed = try Installation(try ScratchDatabase())
            _ = try deed.makeKey()
            let service = try deed.serve("--console")
            let port = service.port
            let url = "http://127.0.0.1:\(port)"
            let made = try deed.run(
                "person", "create", "--email", "Ann@example.com", "--role", "support",
                "--console-url", "\(url)/", "--json")
            #expect(made.code == 0, "\(made.errors)")
            let link = try #require(try made.json["link"]?.string)
            #expect(link.hasPrefix("\(url)/console/link/"))
            let place = String(link.dropFirst(url.count))
            #expect(try get(place, at: port).body.contains("ann@example.com"))
            let password = "password=correct+horse+battery"
            let again = "again=correct+horse+battery"
            #expect(try post(place, "\(password)&\(again)", at: port).status == 303)
            let signedIn = try post(
                "/console/sign-in", "email=ann%40example.com&\(password)", at: port)
            #expect(signedIn.status == 303, "\(signedIn)")
            let cookie = try #require(
                signedIn.head.firstMatch(of: /Set-Cookie: (deed-console=[^;]+)/)
                    .map { String($0.1) })
            let home = "/console/p/default"
            #expect(try get(home, at: port, cookie: cookie).status == 200)
            #expect(try get(home, at: port).status == 303)
            #expect(try get("\(home)/trail", at: port, cookie: cookie).status == 403)
            let set = try deed.run("person", "set", "ann@example.com", "--role", "admin")
            #expect(set.code == 0 && set.output.contains("admin in default"), "\(set.errors)")
            #expect(try get("\(home)/trail", at: port, cookie: cookie).status == 200)
            #expect(try deed.run("person", "end", "ann@example.com").code == 0)
            #expect(try get(home, at: port, cookie: cookie).status == 303)
            let listed = try deed.run("person", "list")
            #expect(listed.output.contains("ann@example.com   pe_"), "\(listed.output)")
            #expect(try deed.run("person", "reset", "ann@example.com").code == 0)
            let refused = try post(
                "/console/sign-in", "email=ann%40example.com&\(password)", at: port)
            #expect(refused.status == 403)
            #expect(try deed.run("person", "remove", "ann@example.com").code == 0)
            let unknown = try deed.run("person", "end", "ann@example.com")
            #expect(unknown.code == 1 && unknown.errors.contains("No person has the address"))
            #expect(!service.log.contains("correct") && !service.log.contains(cookie.dropFirst(13)))
        }

        @Test("A second factor can be demanded, outlives a new key, and is removed when it is lost")
        func secondFactor() throws {
            let deed = try Installation(try ScratchDatabase())
            _ = try deed.makeKey()
            let service = try deed.serve("--console", "--console-second-factor", "required")
            let port = service.port
            let made = try deed.run(
                "person", "create", "--email", "ann@example.com", "--role", "admin", "--json")
            func link(_ run: Finished) throws -> String {
                let link = try #require(try run.json["link"]?.string)
                return "/console/link/\(link.split(separator: "/").last ?? "")"
            }
            let password = "password=correct+horse+battery"
            let again = "again=correct+horse+battery"
            func value(_ name: String, _ reply: RawClient.Reply) throws -> String {
                let pattern = try Regex("Set-Cookie: (\(name)=[^;]+)")
                return try #require(
                    reply.head.firstMatch(of: pattern).flatMap { $0.output[1].substring }.map(
                        String.init),
                    "\(reply)")
            }
            func hidden(_ name: String, _ page: String) throws -> String {
                let pattern = try Regex("name=\"\(name)\" value=\"([^\"]+)\"")
                return try #require(
                    page.firstMatch(of: pattern).flatMap { $0.output[1].substring }.map(String.init)
                )
            }
            func signIn() throws -> RawClient.Reply {
                try post("/console/sign-in", "email=ann%40example.com&\(password)", at: port)
            }
            #expect(try post(link(made), "\(password)&\(again)", at: port).status == 303)
            let cookie = try value("deed-console", signIn())
            let (home, place) = ("/console/p/default", "/console/your-sign-in")
            let led = try get(home, at: port, cookie: cookie)
            #expect(led.status == 303 && led.head.contains("Location: \(place)"))
            let form = try hidden("form", get(place, at: port, cookie: cookie).body)
            let shown = try post(
                place, "form=\(form)&do=offer&\(password)", at: port, cookie: cookie
            ).body
            let app = try #require(CodeApp(page: shown.replacing("&amp;", with: "&")))
            let offer = try hidden("offer", shown)
            let proof = "form=\(form)&do=prove&offer=\(offer)&code=\(app.code(at: now))"
            let codes = try post(place, proof, at: port, cookie: cookie).body
            let code = try #require(codes.firstMatch(of: /<li><code>([^<]+)</)).1
            #expect(try get(home, at: port, cookie: cookie).status == 200)
            #expect(try deed.run("person", "list").output.contains("   second factor"))
            let rotated = try deed.run("secret", "rotate", "--json")
            #expect(try rotated.json["second_factors"]?.integer == 1, "\(rotated.errors)")
            let begun = try value("deed-console-code", signIn())
            let entered = try post(
                "/console/sign-in/code", "code=\(app.code(at: now, steps: 1))", at: port,
                cookie: begun)
            #expect(entered.status == 303, "\(entered)")
            let reset = try deed.run("person", "reset", "ann@example.com", "--json")
            #expect(try reset.json["has_second_factor"]?.bool == true)
            let lost = try deed.run(
                "person", "reset", "ann@example.com", "--second-factor", "--json")
            #expect(try lost.json["has_second_factor"]?.bool == false)
            #expect(try post(link(lost), "\(password)&\(again)", at: port).status == 303)
            let fresh = try value("deed-console", signIn())
            #expect(try get(home, at: port, cookie: fresh).status == 303)
            for secret in [
                app.text, String(code), "correct", "otpauth", String(begun.dropFirst(18)),
            ] {
                #expect(!service.log.contains(secret), "\(secret)")
            }
            let refused = try deed.run("serve", "--console", "--console-second-factor", "maybe")
            #expect(refused.code == 2 && refused.errors.contains("takes required or optional"))
            let alone = try deed.run("serve", "--console-second-factor", "required")
            #expect(alone.code == 2 && alone.errors.contains("needs --console"))
        }

        private var now: Instant {
            Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        }

        @Test("The console is off unless it is asked for, and can have its own address")
        func addresses() throws {
            let deed = try Installation(try ScratchDatabase())
            _ = try deed.makeKey()
            let off = try deed.serve()
            for path in ["/console", "/console/sign-in", "/console/style.css"] {
                #expect(try get(path, at: off.port).status == 404, "\(path)")
            }
            let apart = try deed.serve(
                ["--console-listen", "127.0.0.1:0"], ["DEED_CONSOLE": "1"])
            let port = try #require(
                apart.log.firstMatch(of: /"console_port":(\d+)/).flatMap { UInt16($0.1) })
            #expect(try get("/console/sign-in", at: port).status == 200)
            #expect(try get("/console/sign-in", at: apart.port).status == 404)
            #expect(try get("/v1/products", at: port).status == 404)
        }

        @Test("Passwords over plain HTTP are refused at the start, with what to do")
        func protected() throws {
            let deed = try Installation(try ScratchDatabase())
            for options in [
                ["--listen", "0.0.0.0:0"], ["--listen", ":0"],
                ["--listen", "127.0.0.1:0", "--console-listen", "0.0.0.0:0"],
            ] {
                let refused = try deed.run(["serve", "--console"] + options)
                #expect(refused.code == 1, "\(options): \(refused.errors)")
                #expect(refused.errors.contains("would receive passwords over plain HTTP"))
                #expect(refused.errors.contains("--trusted-proxies"))
            }
            let alone = try deed.run("serve", "--console-listen", "127.0.0.1:0")
            #expect(alone.code == 2 && alone.errors.contains("--console-listen needs --console"))
            _ = try deed.makeKey()
            // Even with a proxy on another machine, this machine can reach the console.
            let service = try deed.serve("--console", "--trusted-proxies", "10.0.0.1")
            #expect(try get("/console/sign-in", at: service.port).status == 200)
        }
    }
}
