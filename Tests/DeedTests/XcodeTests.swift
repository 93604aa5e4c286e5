import Foundation
import JSON
import Minting
import TestSupport
import Testing

extension ProgramTests {
    /// Developers who share a Deed and buy with what Xcode signs on their machines.
    @Suite("Purchases in Xcode", .timeLimit(.minutes(2)))
    final class XcodePurchases {
        private let folder: ScratchFolder
        private let deed: Installation
        private let service: RunningService
        private let key: String
        private let machines = [Machine(), Machine()]

        init() throws {
            folder = try ScratchFolder()
            for (number, machine) in machines.enumerated() {
                _ = try folder.write(machine.certificatePEM, to: "\(number).pem")
            }
            deed = try Installation(ScratchDatabase())
            key = try deed.makeKey()
            _ = try deed.run(
                "app", "set", "--bundle-id", "com.example.game", "--sandbox-access", "all")
            let applied = try deed.run(
                "catalog", "apply", PracticeGround.example("catalog.json"))
            try #require(applied.code == 0, "\(applied.errors)")
            service = try deed.serve("--extra-roots", folder.path)
        }

        private func submit(_ signed: String, of customer: String) throws -> JSON {
            var client = try APIClient(key: key)
            let body: JSON = [
                "signed_transactions": [.string(signed)], "environment": "sandbox",
            ]
            let answer = try client.send(
                "POST", "\(service.url)/v1/customers/\(customer)/receipts", body: body.text)
            return try JSON.read(answer.text)
        }

        @Test("Two developers' first transactions, and those after a reset, are each recorded")
        func apart() throws {
            let first = machines[0].buy("level2", as: 2, at: 1_682_935_199_500)
            let other = machines[1].buy("level2", as: 2, at: 1_682_935_199_500)
            let afterReset = machines[0].buy("coins.100", as: 2, at: 1_682_938_800_000)
            for (signed, customer) in [
                (first, "dev-a"), (other, "dev-b"), (afterReset, "dev-a"),
            ] {
                let item = try submit(signed, of: customer)["items"]?.array?.first
                #expect(item?["outcome"]?.string == "recorded", "\(item ?? .null)")
                #expect(item?["transaction"]?.string == "2")
                #expect(item?["xcode"]?.bool == true)
            }
            let again = try submit(first, of: "dev-a")
            #expect(again["items"]?.array?.first?["outcome"]?.string == "already_known")
            #expect(again["balances"]?["coins"]?.integer == 100)
            #expect(again["entitlements"]?["level2"]?["active"]?.bool == true)
        }

        @Test("They are marked in the customer, the explanation and the events")
        func marked() throws {
            let signed = machines[0].buy("level2", as: 0, at: 1_682_935_199_500)
            _ = try submit(signed, of: "dev-a")
            var client = try APIClient(key: key)
            let path = "\(service.url)/v1/customers/dev-a"
            let whole = try client.read("\(path)?environment=sandbox")
            #expect(whole["purchases"]?.array?.first?["xcode"]?.bool == true)
            for call in [
                "explain?entitlement=level2&environment=sandbox", "events?environment=sandbox",
            ] {
                let text = try client.send("GET", "\(path)/\(call)").text
                #expect(text.contains(#""xcode":true"#), "\(text)")
            }
            #expect(try deed.run("audit").code == 0)
        }
    }
}

/// A developer's machine with a certificate of its own.
private struct Machine {
    private let signer: MintedCertificate

    init() {
        var plan = CertificatePlan(
            name: "StoreKit Testing in Xcode", lifetime: "2023-01-01T00:00:00Z",
            "2024-01-01T00:00:00Z", constraints: "critical,CA:TRUE,pathlen:0", usage: .signing,
            markers: [])
        plan.digest = .sha256
        signer = MintedCertificate(plan, key: MintedKey(.p256))
    }

    var certificatePEM: String {
        let text = Data(signer.der).base64EncodedString(
            options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    }

    /// What Xcode hands to the app.
    func buy(_ product: String, as number: Int, at milliseconds: Int64) -> String {
        let payload: JSON = [
            "transactionId": .string("\(number)"), "originalTransactionId": .string("\(number)"),
            "bundleId": "com.example.game", "productId": .string(product),
            "purchaseDate": .integer(milliseconds),
            "originalPurchaseDate": .integer(milliseconds), "quantity": 1,
            "type": product == "level2" ? "Non-Consumable" : "Consumable",
            "signedDate": .integer(milliseconds + 10), "environment": "Xcode",
            "inAppOwnershipType": "PURCHASED",
        ]
        var plan = SignedJSONPlan(payload)
        plan.certificates = [signer.der]
        plan.key = signer.key
        plan.extraHeader = [("kid", "Apple_Xcode_Key"), ("typ", "JWT")]
        return String(decoding: plan.bytes, as: UTF8.self)
    }
}
