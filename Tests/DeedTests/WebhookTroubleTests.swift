import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Webhooks in trouble", .serialized, .timeLimit(.minutes(20)))
    struct WebhookTrouble {
        private let installation: Installation

        init() throws {
            let database = try ScratchDatabase()
            installation = try Installation(database)
            _ = try installation.makeKey()
        }

        @Test("A lost key is not made anew while a webhook's secrets are sealed with it")
        func lostKey() throws {
            let made = try installation.run("webhook", "create", "--url", "https://example.com/")
            #expect(made.code == 0, "\(made.errors)")
            let folder = try ScratchFolder()
            let secret = try folder.write("practice-shared-secret\n", to: "secret")
            let key = "\(installation.dataFolder)/secret.key"
            try FileManager.default.removeItem(atPath: key)
            for words in [
                ["webhook", "create", "--url", "https://example.com/"],
                [
                    "app", "set", "--bundle-id", "com.example.app", "--shared-secret-file", secret,
                ],
            ] {
                let refused = try installation.run(words)
                #expect(refused.code == 1, "\(words) \(refused.errors)")
                #expect(refused.errors.contains("secret rotate --lost"), "\(refused.errors)")
                #expect(access(key, F_OK) != 0, "\(words) made another key")
            }
            let list = try installation.run("webhook", "list", "--json").json["webhooks"]?.array
            #expect(list?.count == 1)
        }

        @Test("An example that has not arrived ends the command with 1")
        func example() throws {
            let receivers = try WebhookReceivers([("sick", "always"), ("well", "none")])
            for (name, code) in [("sick", Int32(1)), ("well", 0)] {
                let webhook = try installation.makeWebhook(receivers, name)
                let id = try #require(webhook["id"]?.string)
                let tested = try installation.run(
                    "webhook", "test", id, "--webhook-allow", "127.0.0.1")
                #expect(tested.code == code, "\(tested.output) \(tested.errors)")
                #expect(tested.errors.contains("The service needs --webhook-allow") == (code == 0))
            }
        }

        @Test(
            "An example receiver refuses a file without secrets",
            arguments: ["python3 receive.py", "node receive.mjs"],
            ["", "secret       whsec_AAAA\n", "whsec_\u{FC}\n", "whpk_AAAA\n"])
        func secretFile(_ program: String, _ content: String) throws {
            let words = program.split(separator: " ").map(String.init)
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appending(path: "../../docs/examples/webhooks/\(words[1])").path
            let folder = try ScratchFolder()
            _ = try folder.write(content, to: "secret")
            let receiver = try ChildProcess(
                "/usr/bin/env",
                [
                    words[0], script, "--listen", "127.0.0.1:0", "--secret-file",
                    folder.file("secret"),
                ], environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""],
                output: folder.file("std"), errors: folder.file("err"))
            let code = receiver.wait(milliseconds: 60_000)
            if code == nil { receiver.signal(SIGKILL) }
            let said = try String(contentsOfFile: folder.file("err"), encoding: .utf8)
            #expect(code != nil && code != 0)
            #expect(said.contains("must have a secret that begins with whsec_"), "\(said)")
            #expect(said.split(separator: "\n").count == 1, "\(said)")
        }
    }
}
