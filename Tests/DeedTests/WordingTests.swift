import Foundation
import JSON
import Minting
import TestSupport
import Testing

@testable import deed

extension ProgramTests {
    @Suite("What commands say")
    struct Wording {
        private let installation: Installation

        init() throws {
            installation = try Installation(try ScratchDatabase())
        }

        @Test("A machine that has seen nothing of the log says so, and claims nothing about it")
        func remembered() throws {
            #expect(try installation.run("project", "create", "default").code == 0)
            func rehearse(_ more: String...) throws -> Finished {
                try installation.run(["accept-log", "--dry-run"] + more)
            }
            let unknown = try rehearse("--json").json
            #expect(unknown["remembered"] == false && unknown["lacking"]?.isNull == true)
            let told = try rehearse().output
            #expect(told.contains("This machine has no record of the log"), "\(told)")
            #expect(!told.contains("has everything"), "\(told)")
            let service = try installation.serve()
            service.process.signal(SIGTERM)
            #expect(service.process.wait(milliseconds: 20_000) == 0)
            #expect(try rehearse("--json").json["remembered"] == true)
            #expect(try rehearse().output.contains("has everything that this machine has seen"))
        }

        @Test("DEED_ENVIRONMENT replaces a missing --environment, and must be an environment")
        func environment() throws {
            #expect(try installation.run("project", "create", "default").code == 0)
            func environment(_ value: String?, _ more: String...) throws -> Finished {
                try installation.run(
                    ["customer", "show", "--customer", "u1", "--json"] + more,
                    variables: value.map { ["DEED_ENVIRONMENT": $0] } ?? [:])
            }
            #expect(try environment(nil).json["environment"] == "production")
            #expect(try environment("sandbox").json["environment"] == "sandbox")
            #expect(
                try environment("sandbox", "--environment", "production").json["environment"]
                    == "production")
            let wrong = try environment("test")
            #expect(wrong.code == 2 && wrong.errors.contains("production or sandbox"))
            let given = try installation.run(
                [
                    "grant", "--customer", "u1", "--entitlement", "pro", "--reason", "r",
                    "--allow-unknown",
                ], variables: ["DEED_ENVIRONMENT": "sandbox"])
            #expect(given.code == 0, "\(given.errors)")
            let sandbox = try environment("sandbox").json["entitlements"]
            #expect(sandbox?["pro"]?["active"] == true)
            #expect(try environment(nil).json["entitlements"]?["pro"] == nil)
        }
    }
}

@Suite("Extra roots")
struct ExtraRootTests {
    private let folder: EvidenceFolder
    private let evidence: String

    init() throws {
        folder = try EvidenceFolder()
        evidence = try folder.write(Array(Payload.transaction.signed().utf8), "transaction")
    }

    private func outcome(_ roots: [(name: String, bytes: [UInt8])]) throws -> Int32 {
        let place = folder.path + "/own"
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: true)
        for root in roots { try folder.write(root.bytes, "own/" + root.name) }
        return CommandLineTool.run(["verify", evidence, "--extra-roots", place])
    }

    @Test(
        "PEM and DER are accepted, each under every name on the page",
        arguments: ["pem", "crt", "cer", "der"])
    func forms(_ ending: String) throws {
        let root = MintedChain.transactions.root
        #expect(try outcome([("r.\(ending)", Array(root.pem.utf8))]) == 0)
        #expect(try outcome([("r.\(ending)", root.der)]) == 0)
        #expect(try outcome([("r.\(ending)", MintedChain.receipts.root.der)]) == 1)
        #expect(try outcome([("r.\(ending)", [1, 2, 3])]) == 3)
    }

    @Test("A folder without a certificate under such a name is a fault, not just no root")
    func none() throws {
        #expect(try outcome([]) == 3)
        #expect(try outcome([("r.txt", Array(MintedChain.transactions.root.pem.utf8))]) == 3)
    }

    @Test("Every page about extra roots states the same form")
    func pages() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        for page in ["docs/verify.md", "docs/operations.md"] {
            let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
            #expect(text.contains("in PEM or DER (`.pem`, `.crt`, `.cer`, `.der`)"), "\(page)")
        }
    }
}
