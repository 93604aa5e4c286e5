import Commands
import Core
import JSON
import Minting
import TestSupport
import Testing

@testable import deed

/// Tests files as editors and shells write them.
@Suite("Evidence in files")
struct EvidenceFileTests {
    private let folder: EvidenceFolder
    private static let store = MintedStore(environment: "Sandbox")
    private static let sale = Sale("1", "level2", .nonConsumable, at: Payload.signedAt)

    init() throws {
        folder = try EvidenceFolder()
    }

    private func kind(of bytes: [UInt8]) throws -> String? {
        let file = try folder.write(bytes, "evidence")
        let arguments = [file, "--extra-roots", folder.path + "/roots"]
        let invocation = Invocation(verifyCommand, arguments, variables: [:])
        let report = VerifyReport(try invocation.examination()).json
        return report["believed"] == true ? report["kind"]?.string : report["refusal"]?.string
    }

    static let texts = [
        ("signed_transaction", store.transaction(sale)),
        ("app_receipt", store.receipt([sale], at: Payload.signedAt)),
        ("notification", store.notification("TEST", id: "1", at: Payload.signedAt)),
    ]

    @Test(
        "A last line break, CRLF, wrapped lines and an encoding mark are not part of it",
        arguments: texts)
    func dressed(_ name: String, _ text: String) throws {
        let wrapped = name == "notification" ? text : text.wrapped(at: 76, by: "\r\n")
        var utf16: [UInt8] = [0xFF, 0xFE]
        for unit in "\(text)\r\n".utf16 { utf16 += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        let written: [[UInt8]] = [
            Array(text.utf8), Array("\(text)\n".utf8), Array("\(text)\r\n".utf8),
            Array("\u{FEFF}\(text)\r\n\r\n".utf8), Array(wrapped.utf8), utf16,
        ]
        for (place, bytes) in written.enumerated() {
            #expect(try kind(of: bytes) == name, "form \(place)")
        }
    }

    @Test("Binary evidence is taken unchanged")
    func binary() throws {
        let plan = ReceiptPlan()
        #expect(try kind(of: plan.bytes) == "app_receipt")
        #expect(try kind(of: plan.bytes + [0x0A]) == "trailing_bytes")
    }

    @Test("An iOS 6 transaction receipt is recognized, plain or in base64")
    func transactionReceipt() throws {
        let list =
            "{\n\t\"signature\" = \"AjdA\";\n\t\"purchase-info\" = \"ewoJ\";\n"
            + "\t\"environment\" = \"Sandbox\";\n\t\"pod\" = \"100\";\n}"
        #expect(try kind(of: Array(list.utf8)) == "transaction_receipt")
        #expect(try kind(of: Array(Array(list.utf8).base64.utf8)) == "transaction_receipt")
        let file = try folder.write(Array(list.utf8), "old")
        let invocation = Invocation(verifyCommand, [file], variables: [:])
        #expect(VerifyReport(try invocation.examination()).text.contains("send the app's receipt"))
    }
}

extension String {
    fileprivate func wrapped(at width: Int, by lineBreak: String) -> String {
        var (wrapped, column) = ("", 0)
        for letter in self {
            if column == width { (wrapped, column) = (wrapped + lineBreak, 0) }
            wrapped.append(letter)
            column += 1
        }
        return wrapped
    }
}
