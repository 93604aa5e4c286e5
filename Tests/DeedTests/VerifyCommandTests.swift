import Commands
import Core
import Foundation
import JSON
import Minting
import TestSupport
import Testing

@testable import deed

/// A folder that is removed when the test ends.
final class EvidenceFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "deed-verify-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path + "/roots", withIntermediateDirectories: true)
        let roots = [MintedChain.receipts.root, MintedChain.transactions.root]
        for (index, root) in roots.enumerated() {
            try write(Array(root.pem.utf8), "roots/\(index).pem")
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    @discardableResult
    func write(_ bytes: [UInt8], _ name: String) throws -> String {
        let file = path + "/" + name
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }
}

@Suite("deed verify")
struct VerifyCommandTests {
    let folder: EvidenceFolder
    var roots: String { folder.path + "/roots" }

    init() throws {
        folder = try EvidenceFolder()
    }

    /// Returns the command's exit code as a shell would see it.
    func run(_ arguments: String...) -> Int32 { CommandLineTool.run(["verify"] + arguments) }

    func report(_ arguments: String...) throws -> VerifyReport {
        let invocation = Invocation(verifyCommand, arguments, variables: [:])
        try invocation.validate()
        return VerifyReport(try invocation.examination())
    }

    @Test("A believed receipt gives 0 and the JSON that programs rely on")
    func json() throws {
        let file = try folder.write(ReceiptPlan().bytes, "receipt")
        #expect(run(file, "--extra-roots", roots, "--json", "--bundle-id", Payload.bundleID) == 0)
        let report = try report(file, "--extra-roots", roots, "--bundle-id", Payload.bundleID).json
        #expect(report["believed"] == true && report["kind"] == "app_receipt")
        #expect(report["environment"] == "sandbox" && report["bundle_id"] == "com.example.app")
        #expect(report["refusal"]?.isNull == true)
        #expect(
            report["purchases"]?.array == [
                [
                    "product": "com.example.pro.month", "transaction": "1000000000000002",
                    "original_transaction": "1000000000000001",
                    "purchased_at": "2023-05-01T09:59:59.000Z",
                    "original_purchased_at": "2023-04-01T09:59:59.000Z",
                    "expires_at": "2023-06-01T09:59:59.000Z", "cancelled_at": .null, "quantity": 1,
                ]
            ])
        let checks = try #require(report["checks"]?.array)
        let chain = try #require(checks.first { $0["name"] == "chain" })
        #expect(chain["passed"] == true)
        #expect(chain["detail"]?.string?.contains("Minted Root") == true)
    }

    @Test("Without a bundle id, its check is reported as not made")
    func notMade() throws {
        let file = try folder.write(Array(Payload.transaction.signed().utf8), "transaction")
        let checks = try report(file, "--extra-roots", roots).json["checks"]?.array
        let check = try #require(checks?.first { $0["name"] == "bundle_id" })
        #expect(check["passed"]?.isNull == true)
    }

    @Test("A refused receipt gives 1, its reason by name, and what it states")
    func refused() throws {
        let file = try folder.write(ReceiptPlan().bytes, "receipt")
        #expect(run(file, "--json") == 1)
        let report = try report(file).json
        #expect(report["believed"] == false && report["refusal"] == "untrusted_root")
        #expect(report["purchases"]?.array?.count == 1)
    }

    @Test("People read the same: the outcome, the checks and the purchases")
    func text() throws {
        let file = try folder.write(ReceiptPlan().bytes, "receipt")
        let believed = try report(file, "--extra-roots", roots).text
        #expect(believed.hasPrefix("Believed: app_receipt"))
        #expect(believed.contains("passed  signature"))
        #expect(believed.contains("com.example.pro.month"))
        let refused = try report(file).text
        #expect(refused.contains("Refused (untrusted_root)"))
        #expect(refused.contains("FAILED  chain"))
    }

    @Test("Control characters in evidence do not reach the terminal")
    func controls() throws {
        var payload = Payload.transaction
        payload["productId"] = "a\u{202E}b"
        payload["environment"] = "Sandbox"
        let file = try folder.write(Array(payload.signed().utf8), "transaction")
        let text = try report(file, "--extra-roots", roots).text
        #expect(text.contains("a\u{FFFD}b"))
        payload["environment"] = "\u{1B}[2J"
        let other = try folder.write(Array(payload.signed().utf8), "other")
        let refused = try report(other, "--extra-roots", roots).text
        #expect(refused.contains("unknown_environment") && !refused.contains("\u{1B}"))
    }

    @Test("The instant, the device and the version can be given")
    func options() throws {
        let file = try folder.write(ReceiptPlan().bytes, "receipt")
        #expect(run(file, "--extra-roots", roots, "--at", "2023-01-01T00:00:00Z") == 1)
        let device = "00010203-0405-0607-0809-0a0b0c0d0e0f"
        #expect(
            run(file, "--extra-roots", roots, "--device-id", device, "--app-version", "42") == 0)
        #expect(run(file, "--extra-roots", roots, "--device-id", "00:00:00:00:00:00") == 1)
        #expect(run(file, "--extra-roots", roots, "--app-version", "43") == 1)
    }

    @Test("Meaningless arguments give 2")
    func usage() {
        #expect(run() == 2)
        #expect(run("a", "b") == 2)
        #expect(run("a", "--nonsense", "b") == 2)
        #expect(run("a", "--at") == 2)
        #expect(run("a", "--at", "tomorrow") == 2)
        #expect(run("a", "--bundle-id", "") == 2)
        #expect(run("a", "--device-id", "7") == 2)
    }

    @Test("Unreadable files give 3, and so does an invalid root")
    func files() throws {
        let missing = folder.path + "/missing"
        #expect(run(missing) == 3)
        #expect(run(folder.path) == 3)
        let file = try folder.write(ReceiptPlan().bytes, "receipt")
        #expect(run(file, "--extra-roots", missing) == 3)
        let empty = try ScratchFolder()
        #expect(run(file, "--extra-roots", empty.path) == 3)
        try folder.write(Array("no certificate".utf8), "roots/bad.pem")
        #expect {
            try report(file, "--extra-roots", roots)
        } throws: { ($0 as? CommandEnd)?.sentence.contains("bad.pem") == true }
    }
}
