import Core
import Crypto
import Evidence
import JSON
import Minting
import Outbound
import Practice
import Testing

@Suite("verifyReceipt of the practice store", .timeLimit(.minutes(20)))
struct VerifyReceiptTests {
    private func body(_ receipt: String, password: String? = "practice-shared-secret") -> JSON {
        var object = JSONObject()
        object.append("receipt-data", .string(receipt))
        if let password { object.append("password", .string(password)) }
        return .object(object)
    }

    private func status(
        _ served: ServedStore, _ body: JSON?, method: String = "POST",
        at target: String = "/verifyReceipt"
    ) throws -> JSON? {
        let answer = try served.send(method, target, body, token: nil)
        #expect(answer.status == 200)
        return try JSON.read(answer.body)["status"]
    }

    @Test("Each mistake has its status")
    func statuses() throws {
        let served = try ServedStore()
        let receipt = try served.buy("pro.month").receipt
        let foreign = Authority()
        let forged = served.store.read { $0.receipt(of: "u1", by: foreign).base64 }
        #expect(try status(served, body(receipt)) == 0)
        #expect(try status(served, nil, method: "GET") == 21_000)
        #expect(try status(served, body("!!!")) == 21_002)
        #expect(try status(served, body("AAAA")) == 21_002)
        #expect(try status(served, ["password": "x"]) == 21_002)
        #expect(try status(served, body(forged)) == 21_003)
        #expect(try status(served, body(receipt, password: "wrong")) == 21_004)
        #expect(try status(served, body(receipt, password: nil)) == 21_004)
        #expect(try status(served, body(receipt), at: "/production/verifyReceipt") == 21_007)
    }

    @Test("An old receipt is answered with later events, in the store's own form")
    func latest() throws {
        let served = try ServedStore()
        let receipt = try served.buy("pro.month").receipt
        _ = try served.buy("level2")
        try served.store.advance(to: opening.days(40))
        _ = try served.store.perform(Step(.cancel, customer: "u1"))
        let json = try JSON.read(
            served.send("POST", "/verifyReceipt", body(receipt), token: nil).body)
        #expect(json["environment"] == "Sandbox")
        let latest = json["latest_receipt_info"]?.array ?? []
        #expect(latest.count == 3)
        #expect(latest.first?["product_id"] == "pro.month")
        #expect(latest.first?["expires_date"] == "2024-03-29 10:00:00 Etc/GMT")
        #expect(latest.first?["expires_date_ms"] == "1711706400000")
        #expect(json["pending_renewal_info"]?.array?.first?["auto_renew_status"] == "0")
        let renewed = try #require(json["latest_receipt"]?.string)
        var judge = try Judge()
        let bytes = try #require(Base64.standard.decode(Array(renewed.utf8)))
        try judge.take(bytes, .appReceipt, at: opening.days(41))
        #expect(judge.state.purchases.count == 2)
        let only = JSON.object(
            {
                var object = body(receipt).object ?? JSONObject()
                object.append("exclude-old-transactions", true)
                return object
            }())
        let short = try JSON.read(served.send("POST", "/verifyReceipt", only, token: nil).body)
        #expect(short["latest_receipt_info"]?.array?.count == 2)
    }

    @Test("Finished consumables are no longer listed, and an upgrade keeps its instant")
    func told() throws {
        let served = try ServedStore()
        let coins = try served.buy("coins.100").transaction
        let month = try served.buy("basic.month")
        try served.store.advance(to: opening.days(3))
        _ = try served.store.perform(Step(.change, customer: "u1", product: "pro.month"))
        let upgraded = try upgradeInstant(served, month)
        _ = try served.store.perform(
            Step(.finish, customer: "u1").changed { $0.transaction = coins })
        try served.store.advance(to: opening.days(8))
        let token = "7f3c2f0e-6a53-4a6c-9d0d-2f6e3f7f0b11"
        _ = try served.store.perform(
            Step(.setToken, customer: "u1").changed {
                $0.transaction = month.transaction
                $0.token = token
            })
        #expect(try upgradeInstant(served, month) == upgraded && upgraded != nil)
        let latest = try reply(served, month)["latest_receipt_info"]?.array ?? []
        #expect(!latest.contains { $0["product_id"] == "coins.100" })
        #expect(latest.allSatisfy { $0["is_trial_period"] == "false" })
    }

    private func reply(_ served: ServedStore, _ bought: HandOver) throws -> JSON {
        try JSON.read(
            served.send("POST", "/verifyReceipt", body(bought.receipt), token: nil).body)
    }

    private func upgradeInstant(_ served: ServedStore, _ bought: HandOver) throws -> JSON? {
        try reply(served, bought)["latest_receipt_info"]?.array?
            .first { $0["transaction_id"]?.string == bought.transaction }?["cancellation_date_ms"]
    }

    @Test("Deed reads the reply like the real store's")
    func reply() throws {
        let served = try ServedStore()
        let receipt = try served.buy("pro.month").receipt
        let bytes = try served.send("POST", "/verifyReceipt", body(receipt), token: nil).body
        #expect(EvidenceKind.detect(bytes) == .verifyReceiptReply)
        let statement = try Verifier.read(bytes, as: .verifyReceiptReply)
        #expect(statement.environment == .sandbox)
        #expect(statement.purchases.count == 1)
    }
}
