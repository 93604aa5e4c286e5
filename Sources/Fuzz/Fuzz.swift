import Core
import Crypto
import Evidence
import Foundation
import JSON
import Minting

/// The reader to fuzz, selected by `DEED_FUZZ_TARGET`.
private enum Target: String {
    case receipt
    case jws
    case json

    static let chosen: Target = {
        let name = ProcessInfo.processInfo.environment["DEED_FUZZ_TARGET"] ?? ""
        guard let target = Target(rawValue: name) else {
            preconditionFailure("DEED_FUZZ_TARGET must be receipt, jws or json")
        }
        return target
    }()
}

private let roots = [MintedChain.receipts.root, MintedChain.transactions.root]
    .compactMap { try? Certificate(der: $0.der) }
private let verifier = Verifier(extraRoots: roots)
private let question = EvidenceQuestion(now: Payload.signedAt)

/// Writes the seed inputs for the selected target into a folder.
func writeSeeds(to folder: String) throws {
    for (index, seed) in seeds(of: .chosen).enumerated() {
        let file = URL(fileURLWithPath: folder).appendingPathComponent("seed-\(index)")
        try Data(seed).write(to: file)
    }
}

/// Passes one input from the fuzzer to the readers of the selected target.
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    switch Target.chosen {
    case .receipt:
        feed(bytes)
        // Mutated evidence rarely has a valid signature, so its content is also read without verification.
        _ = try? Verifier.read(ReceiptPlan.unsigned(content: bytes), as: .appReceipt)
    case .jws:
        feed(bytes)
        feed(Array("e30.\(bytes.base64URL).AA".utf8))
    case .json:
        readBack(bytes)
        feed(bytes)
    }
    return 0
}

/// Examines `bytes`. Only minted evidence may be accepted, and its statement must match what was minted.
private func feed(_ bytes: [UInt8]) {
    let examination = verifier.examine(bytes, question)
    if examination.isBelieved, let app = examination.statement?.app {
        precondition(app.text == Payload.bundleID, "a forgery was believed")
    }
}

/// Requires that JSON is unchanged after it has been written and read again.
private func readBack(_ bytes: [UInt8]) {
    guard let value = try? JSON.read(bytes) else { return }
    guard let again = try? JSON.read(value.bytes) else {
        preconditionFailure("JSON that was written cannot be read")
    }
    precondition(again == value, "JSON changed between reading and writing")
}

private func seeds(of target: Target) -> [[UInt8]] {
    switch target {
    case .receipt: receiptSeeds()
    case .jws:
        [Payload.transaction, .renewal, .appTransaction, .notification()].flatMap { payload in
            [Array(payload.signed().utf8), payload.json.bytes]
        }
    case .json:
        [Payload.transaction, .renewal, .appTransaction].map(\.json.bytes)
            + [
                SignedJSONPlan(Payload.transaction.json).header.bytes,
                (["signedPayload": .string(Payload.notification().signed())] as JSON).bytes,
                (["status": 0, "receipt": ["in_app": [[:]]], "a": [.null, true]] as JSON).bytes,
                Array(#"{"a":[1,-2.5e3,"\u00e9\ud83c\udfae\n",{"b":null}],"c":{}}"#.utf8),
            ]
    }
}

private func receiptSeeds() -> [[UInt8]] {
    var plan = ReceiptPlan()
    var seeds = [plan.bytes, Array(plan.bytes.base64.utf8), plan.attributes.encoded]
    plan.form = .ber
    seeds.append(plan.bytes)
    plan.hasSignedAttributes = true
    seeds.append(plan.bytes)
    plan.digest = .sha1
    plan.digestName = ASN1.sha1
    seeds.append(plan.bytes)
    plan.attributes = .receipt(purchases: [.purchase(), .purchase(transaction: "3")])
    seeds.append(plan.attributes.encoded)
    return seeds
}

extension ReceiptPlan {
    /// Returns a receipt with the given content and an invalid signature.
    fileprivate static func unsigned(content: [UInt8]) -> [UInt8] {
        plan.bytes(content: content, signature: [UInt8](repeating: 1, count: 256))
    }

    private static let plan = ReceiptPlan()
}
