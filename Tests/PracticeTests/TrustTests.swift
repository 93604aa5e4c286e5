import Core
import Crypto
import Evidence
import JSON
import Minting
import Practice
import Testing

@Suite("Trust in the practice store's signatures")
struct TrustTests {
    private static func makeWorld(_ environment: String) throws -> (PracticeWorld, HandOver) {
        var world = PracticeWorld(.example, from: opening, seed: 3)
        world.environment = environment
        let outcome = try world.perform(Step(.buy, customer: "u1", product: "pro.month"))
        return (world, HandOver(outcome, in: world, by: practice))
    }

    private static func pieces(_ environment: String) throws -> [(EvidenceKind, [UInt8])] {
        let (world, given) = try makeWorld(environment)
        let notification = world.payload(of: world.postings[0]) { practice.sign($0) }
        let receipt = try #require(Base64.standard.decode(Array(given.receipt.utf8)))
        return [
            (.signedTransaction, Array((given.signedTransaction ?? "").utf8)),
            (.renewalInfo, Array((given.signedRenewal ?? "").utf8)),
            (.appTransaction, Array(given.appTransaction.utf8)), (.appReceipt, receipt),
            (.notification, Array(practice.sign(notification).utf8)),
        ]
    }

    private func refusal(
        of bytes: [UInt8], _ kind: EvidenceKind, by verifier: Verifier
    ) throws -> EvidenceRefusal? {
        var terms = try Judge.terms(opening.days(1), .clientTransaction)
        terms.companion = terms.apps.first?.id
        do throws(EvidenceRefusal) {
            _ = try verifier.verify(bytes, as: kind, on: terms)
            return nil
        } catch {
            return error
        }
    }

    @Test("With its roots as extra roots, everything that it signs is believed, as sandbox")
    func extraRoots() throws {
        let verifier = try Judge().verifier
        for (kind, bytes) in try Self.pieces("Sandbox") {
            #expect(EvidenceKind.detect(bytes) == kind)
            #expect(try refusal(of: bytes, kind, by: verifier) == nil, "\(kind)")
            let statement = try verifier.verify(
                bytes, as: kind, on: Judge.terms(opening.days(1), .clientTransaction))
            #expect(statement.environment == .sandbox)
        }
    }

    @Test("It never changes a production answer, whatever it writes")
    func production() throws {
        let verifier = try Judge().verifier
        for (kind, bytes) in try Self.pieces("Production") {
            let refusal = try #require(try refusal(of: bytes, kind, by: verifier))
            #expect(refusal.code == "extra_root_for_production", "\(kind)")
        }
    }

    @Test("Without its roots nothing that it signs is believed")
    func noRoots() throws {
        let verifier = Verifier(extraRoots: [])
        for (kind, bytes) in try Self.pieces("Sandbox") {
            let refusal = try #require(try refusal(of: bytes, kind, by: verifier))
            #expect(refusal.code == "untrusted_root", "\(kind)")
        }
    }

    @Test("Another practice store's roots vouch for nothing of this one")
    func otherStore() throws {
        let verifier = try Judge(Authority()).verifier
        for (kind, bytes) in try Self.pieces("Sandbox") {
            #expect(try refusal(of: bytes, kind, by: verifier) != nil, "\(kind)")
        }
    }

    @Test(
        "A date outside the years 1970 to 9999 is refused, even with its roots",
        arguments: [-1, 253_402_300_800_000, .min, .max] as [Int64])
    func dates(_ value: Int64) throws {
        let (world, given) = try Self.makeWorld("Sandbox")
        let sale = try #require(given.transaction.flatMap(world.sale))
        let subscription = try #require(world.subscriptions[sale.original])
        let verifier = try Judge().verifier
        let pieces: [(EvidenceKind, JSON, [String])] = [
            (.signedTransaction, world.payload(of: sale), ["purchaseDate", "expiresDate"]),
            (.renewalInfo, world.payload(of: subscription), ["renewalDate"]),
            (.appTransaction, world.appPayload(of: "u1"), ["originalPurchaseDate"]),
        ]
        for (kind, json, members) in pieces {
            for member in members {
                var payload = Payload(json.object?.members.map { ($0.name, $0.value) } ?? [])
                payload[member] = .integer(value)
                let bytes = Array(practice.sign(payload.json).utf8)
                #expect(
                    try refusal(of: bytes, kind, by: verifier) == .instantOutOfRange(member),
                    "\(kind) \(member)")
            }
        }
    }

    @Test("Receipt and signed transaction state the same purchase")
    func forms() throws {
        let (world, given) = try Self.makeWorld("Sandbox")
        let verifier = try Judge().verifier
        let receipt = try #require(Base64.standard.decode(Array(given.receipt.utf8)))
        let old = try verifier.verify(
            receipt, as: .appReceipt, on: Judge.terms(world.now, .offlineReceipt)
        ).facts.transactions
        let new = try verifier.verify(
            Array((given.signedTransaction ?? "").utf8), as: .signedTransaction,
            on: Judge.terms(world.now, .clientTransaction)
        ).facts.transactions
        #expect(old.count == 1)
        #expect(old.map(\.transaction) == new.map(\.transaction))
        #expect(old.map(\.product) == new.map(\.product))
        #expect(old.map(\.purchased) == new.map(\.purchased))
        #expect(old.map(\.expires) == new.map(\.expires))
    }
}
