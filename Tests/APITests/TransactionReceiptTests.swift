import Core
import Crypto
import JSON
import Minting
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Transaction receipts of iOS 6")
struct TransactionReceiptTests {
    private let front: Storefront

    init() throws { front = try Storefront() }

    private func list(app: String = Payload.bundleID, environment: String? = "Sandbox") -> String {
        let info =
            #"{ "original-transaction-id" = "7"; "bid" = "\#(app)"; "product-id" = "level2"; }"#
        let named = environment.map { #" "environment" = "\#($0)";"# } ?? ""
        return
            #"{ "signature" = "AjdA"; "purchase-info" = "\#(Array(info.utf8).base64)";\#(named) }"#
    }

    private func judgedByStore() {
        let set = front.send(
            "PUT", "/v1/apps/\(Payload.bundleID)", #"{"receipts":"store"}"#, key: front.admin)
        #expect(set.status == 200)
    }

    private func submit(_ receipt: String) -> Reply { front.submit(["receipt": .string(receipt)]) }

    private func code(_ reply: Reply) throws -> String? {
        try reply.json["items"]?.array?.first?["code"]?.string
    }

    @Test("If Deed judges, they are refused by name, because only the store can judge them")
    func local() throws {
        let reply = submit(Array(list().utf8).base64)
        #expect(reply.status == 200)
        #expect(try code(reply) == "transaction_receipt")
    }

    @Test(
        "If the store judges, they wait for it in their own form, plain or in base64",
        arguments: [true, false])
    func queued(inBase64: Bool) throws {
        judgedByStore()
        let asked = Mutex<[(bytes: [UInt8], environment: Environment)]>([])
        front.service.store.answer { raw, _, environment, _ in
            asked.withLock { $0.append((raw.bytes, environment)) }
            return .refused(RefusedEvidence(code: "reply_refused", sentence: "The test says no."))
        }
        let list = inBase64 ? Array(list().utf8).base64 : list()
        let reply = submit(list)
        #expect(reply.status == 202, "\(reply.text)")
        _ = try front.work()
        let seen = asked.withLock { $0 }
        #expect(seen.count == 1 && seen.first?.environment == .sandbox)
        #expect(seen.first?.bytes == Array(list.utf8))
    }

    @Test(
        "An app outside the project, or an unknown environment, is refused at once",
        arguments: [
            ("com.example.other", "Sandbox", "transaction_receipt"),
            (Payload.bundleID, "Moon", "transaction_receipt"), ("", nil, "transaction_receipt"),
        ])
    func foreign(_ app: String, _ environment: String?, _ expected: String) throws {
        judgedByStore()
        let reply = submit(Array(list(app: app, environment: environment).utf8).base64)
        #expect(try code(reply) == expected, "\(reply.text)")
        #expect(try front.work() == nil)
    }

    @Test("One without an environment belongs to production")
    func production() throws {
        judgedByStore()
        #expect(submit(list(environment: nil)).status == 202)
        #expect(
            try front.service.database.number(
                "select count(*) from deed.intake where environment = 'production'") == 1)
    }
}
