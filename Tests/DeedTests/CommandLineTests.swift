import Foundation
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Flags, folders and certificates", .serialized, .timeLimit(.minutes(20)))
    struct CommandLine {
        @Test("A value may look like a flag")
        func values() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            _ = try installation.makeKey()
            for reason in ["--help", "-h", "--json"] {
                let given = try installation.run(
                    "grant", "--customer", "u1", "--entitlement", "pro", "--reason", reason)
                #expect(given.code == 0)
                #expect(given.output.hasPrefix("The grant "), "\(given.output)")
            }
            let grants = "select count(*) from deed.events where type = 'grant.given'"
            #expect(try database.number(grants) == 3)
        }

        @Test("After two dashes nothing is a flag")
        func dashes() throws {
            let installation = try Installation(try ScratchDatabase())
            _ = try installation.makeKey()
            for customer in ["--json", "-h", "--"] {
                let shown = try installation.run("customer", "timeline", "--", customer)
                #expect(shown.code == 0, "\(shown.errors)")
                #expect(
                    shown.output == "The customer \"\(customer)\" holds nothing in production.\n")
            }
            let refused = try installation.run("customer", "timeline", "u1", "--", "--json")
            #expect(refused.code == 2)
            #expect(refused.errors.contains("unexpected argument: --json"))
        }

        @Test("Two names in invalid UTF-8 do not become one")
        func bytes() throws {
            let folder = try ScratchFolder()
            let program = "exec \(Installation.program) customer show \"$(printf 'M\\374ller')\""
            let shell = try ChildProcess(
                "/bin/bash", ["-c", program], environment: ProcessInfo.processInfo.environment,
                output: folder.file("out"), errors: folder.file("err"))
            #expect(shell.wait(milliseconds: 10_000) == 2)
            let errors = try String(contentsOfFile: folder.file("err"), encoding: .utf8)
            #expect(errors.contains("not UTF-8"), "\(errors)")
        }

        @Test("Help is given, and JSON if requested, even with a mistake")
        func mistakes() throws {
            let installation = try Installation(try ScratchDatabase())
            let help = try installation.run("grant", "--nonsense", "--help")
            #expect(help.code == 0)
            #expect(help.output.contains("usage: deed grant"))
            let refused = try installation.run("grant", "--nonsense", "--json")
            #expect(refused.code == 2)
            #expect(refused.errors.contains(#"{"error":{"code":"usage""#), "\(refused.errors)")
        }

        @Test("The version is shown, alone and with the help")
        func version() throws {
            let installation = try Installation(url: "")
            let version = try installation.run("--version")
            #expect(version.code == 0 && version.errors == "")
            #expect(version.output.wholeMatch(of: /deed \d+\.\d+\.\d+(-\w+)?\n/) != nil)
            let help = try installation.run("--help").output
            #expect(help.contains(version.output.dropLast()))
        }

        @Test("A customer may be named once")
        func named() throws {
            let installation = try Installation(try ScratchDatabase())
            let refused = try installation.run("customer", "show", "u1", "--customer", "u2")
            #expect(refused.code == 2)
            #expect(refused.errors.contains("name the customer once"), "\(refused.errors)")
        }

        @Test("A grant is shown as the API shows it")
        func shape() throws {
            let installation = try Installation(try ScratchDatabase())
            _ = try installation.makeKey()
            let given = try installation.run(
                "grant", "--customer", "u1", "--entitlement", "pro", "--reason", "r", "--json")
            let json = try given.json
            #expect(json["customer"]?.string == "u1")
            #expect(json["grant"]?["id"]?.string?.hasPrefix("g_") == true)
            #expect(json["grant"]?["reason"]?.string == "r")
        }

        @Test(
            "A command that only reads or changes makes no missing database",
            arguments: [
                ["customer", "show", "u1"], ["project", "list"], ["audit"], ["key", "list"],
                ["status"], ["migrate", "--dry-run"], ["key", "create", "--role", "reader"],
                ["grant", "--customer", "u1", "--entitlement", "pro", "--reason", "r"],
            ])
        func noDatabase(_ command: [String]) throws {
            let installation = try Installation()
            let refused = try installation.run(command + ["--json"])
            #expect(refused.code == 1)
            #expect(refused.errors.contains(#""code":"no_database""#), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: installation.dataFolder))
        }

        @Test("The server is found ready behind a certificate with any name")
        func ready() throws {
            let scratch = try ScratchFolder()
            let (certificate, key) = try scratch.makeCertificate("own", name: "deed.example.com")
            let (other, _) = try scratch.makeCertificate("other")
            let installation = try Installation(try ScratchDatabase())
            let service = try installation.serve(
                "--tls-certificate", certificate, "--tls-key", key)
            let listen = "127.0.0.1:\(service.port)"
            let flag = try installation.run(
                "status", "--ready", "--listen", listen, "--tls-certificate", certificate)
            #expect(flag.code == 0, "\(flag.errors)")
            let variable = try installation.run(
                ["status", "--ready", "--listen", listen],
                variables: ["DEED_TLS_CERTIFICATE": certificate])
            #expect(variable.code == 0, "\(variable.errors)")
            let wrong = try installation.run(
                "status", "--ready", "--listen", listen, "--tls-certificate", other)
            #expect(wrong.code == 1)
        }
    }
}
