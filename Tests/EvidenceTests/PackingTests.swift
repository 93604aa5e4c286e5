import Core
import Histories
import JSON
import Minting
import Testing

@testable import Evidence

@Suite("Packing of evidence")
struct PackingTests {
    let packer = EvidencePacker()

    /// A sample of each kind and form of evidence, by name.
    static let samples: [(name: String, kind: EvidenceKind, bytes: [UInt8])] = {
        var indefinite = ReceiptPlan()
        indefinite.form = .ber
        var attributed = ReceiptPlan()
        attributed.hasSignedAttributes = true
        return [
            ("receipt", .appReceipt, ReceiptPlan().bytes),
            ("receipt in indefinite form", .appReceipt, indefinite.bytes),
            ("receipt with signed attributes", .appReceipt, attributed.bytes),
            ("transaction", .signedTransaction, Array(Payload.transaction.signed().utf8)),
            ("app transaction", .appTransaction, Array(Payload.appTransaction.signed().utf8)),
            ("notification", .notification, Array(Payload.notification().signed().utf8)),
        ]
    }()

    @Test("Evidence is restored byte for byte, and stored without its certificates")
    func roundTrip() throws {
        for (name, kind, bytes) in Self.samples {
            let packed = packer.pack(bytes, as: kind)
            #expect(packed.unpacked() == bytes, "\(name)")
            #expect(packed.certificates.count == 3, "\(name)")
            let chain: MintedChain = kind == .appReceipt ? .receipts : .transactions
            #expect(packed.certificates.map(\.der) == chain.certificates.map(\.der), "\(name)")
            for certificate in packed.certificates {
                #expect(packed.content.firstRange(of: certificate.der) == nil, "\(name)")
            }
        }
    }

    @Test("A transaction is stored as its payload, its signature and less than 300 bytes")
    func size() {
        let payload = Payload.transaction
        let packed = packer.pack(Array(payload.signed().utf8), as: .signedTransaction)
        #expect(packed.content.count < payload.json.bytes.count + 64 + 300)
        #expect(packed.content.firstRange(of: payload.json.bytes) != nil)
    }

    @Test("The statements inside a notification are stored without their certificates too")
    func nested() {
        let bytes = Array(Payload.notification().signed().utf8)
        let packed = packer.pack(bytes, as: .notification)
        #expect(packed.content.firstRange(of: Payload.transaction.json.bytes) != nil)
        #expect(packed.content.firstRange(of: Payload.renewal.json.bytes) != nil)
        #expect(packed.content.count * 5 < bytes.count)
    }

    @Test("The same header is recognized and gives the same certificates")
    func cachedHeader() {
        for index in 0..<40 {
            let chain = index < 20 ? MintedChain.transactions : MintedChain(.transactions)
            let bytes = Array(Payload.transaction.signed(by: chain).utf8)
            for _ in 0..<2 {
                let packed = packer.pack(bytes, as: .signedTransaction)
                #expect(packed.certificates.map(\.der) == chain.certificates.map(\.der))
                #expect(packed.unpacked() == bytes)
            }
        }
    }

    @Test("Truncated, changed or random evidence is stored as it is")
    func damaged() {
        let seed = printedSeed(of: "damaged evidence")
        var random = SeededGenerator(seed: seed)
        for round in 0..<600 {
            let sample = Self.samples[round % Self.samples.count]
            var bytes = sample.bytes
            switch round / Self.samples.count % 4 {
            case 0: bytes = Array(bytes.prefix(.random(in: 0..<bytes.count, using: &random)))
            case 1:
                for _ in 0..<3 {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    bytes[place] = .random(in: 0...255, using: &random)
                }
            case 2: bytes += [.random(in: 0...255, using: &random)]
            default:
                let start = Int.random(in: 0..<bytes.count, using: &random)
                bytes.removeSubrange(start..<min(bytes.count, start + 7))
            }
            let kind = EvidenceKind.apple.randomElement(using: &random) ?? sample.kind
            for kind in [kind, sample.kind] {
                let packed = packer.pack(bytes, as: kind)
                #expect(packed.unpacked() == bytes, "seed \(seed), \(sample.name)")
            }
        }
    }

    @Test("Evidence with random members in any order is restored byte for byte")
    func property() {
        let seed = printedSeed(of: "packed evidence")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            var payload = Payload.transaction
            let noise = (0..<Int.random(in: 0..<300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            // Some texts look like certificates, some like statements, and some like neither.
            let texts = [
                noise.base64, noise.base64URL + "." + noise.base64URL + "." + noise.base64URL,
                "\"\\" + String(decoding: noise, as: UTF8.self), Payload.renewal.signed(),
            ]
            for name in ["a", "b", "c"] {
                payload[name] = texts.randomElement(using: &random).map(JSON.string)
            }
            var plan = SignedJSONPlan(payload.json)
            plan.extraHeader = [("kid", .string(noise.base64)), ("z", "\u{1F9FE}")]
            let notification = Payload.notification(transaction: plan.text, renewal: nil)
            for (text, kind) in [
                (plan.text, EvidenceKind.signedTransaction), (notification.signed(), .notification),
            ] {
                let bytes = Array(text.utf8)
                let packed = packer.pack(bytes, as: kind)
                #expect(packed.unpacked() == bytes, "seed \(seed)")
                #expect(packed.content.count < bytes.count, "seed \(seed)")
            }
        }
    }

    @Test("Damaged content gives nothing, and never more than evidence may have")
    func hostileContent() {
        let packed = packer.pack(Self.samples[5].bytes, as: .notification)
        let seed = printedSeed(of: "damaged contents")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            var content = packed.content
            content[Int.random(in: 0..<content.count, using: &random)] ^= .random(
                in: 1...255, using: &random)
            content.removeLast(Int.random(in: 0..<20, using: &random))
            let unpacked = PackedEvidence(
                content: content, certificates: packed.certificates
            ).unpacked()
            #expect(unpacked != Self.samples[5].bytes, "seed \(seed)")
        }
        var deep: [UInt8] = []
        for _ in 0..<100 { deep = [3] + bigEndian(deep.count) + deep }
        #expect(PackedEvidence(content: deep, certificates: []).unpacked() == nil)
        let many = [UInt8](repeating: 2, count: 2_000_000)
        let certificate = KeptCertificate(
            digest: [], der: [UInt8](repeating: 9, count: 16_000))
        let certificates = [certificate, certificate, certificate]
        #expect(PackedEvidence(content: many, certificates: certificates).unpacked() == nil)
    }

    private func bigEndian(_ count: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
    }
}
