import Core
import Foundation
import JSON
import Minting
import TestSupport
import Testing

extension ProgramTests {
    /// Tests a Deed that several developers share. Xcode signs their purchases on their machines.
    @Suite("Purchases in Xcode", .timeLimit(.minutes(20)))
    final class XcodePurchases {
        private let folder: ScratchFolder
        private let database: ScratchDatabase
        private let deed: Installation
        private let service: RunningService
        private let key: String
        private let machines = [Machine(), Machine()]

        init() throws {
            folder = try ScratchFolder()
            for (number, machine) in machines.enumerated() {
                _ = try folder.write(machine.certificatePEM, to: "\(number).pem")
            }
            database = try ScratchDatabase()
            deed = try Installation(database)
            key = try deed.makeKey()
            _ = try deed.run(
                "app", "set", "--bundle-id", "com.example.game", "--sandbox-access", "all")
            let applied = try deed.run(
                "catalog", "apply", PracticeGround.example("catalog.json"))
            try #require(applied.code == 0, "\(applied.errors)")
            service = try deed.serve("--extra-roots", folder.path)
        }

        private func submit(
            _ signed: String, of customer: String, as form: String = "signed_transactions"
        ) throws -> JSON {
            var client = try APIClient(key: key)
            var body: JSON = ["environment": "sandbox", "signed_transactions": [.string(signed)]]
            if form == "app_transaction" {
                body = ["environment": "sandbox", "app_transaction": .string(signed)]
            }
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

        @Test("Each developer's machine has its own account, which leads to its customers")
        func accounts() throws {
            var client = try APIClient(key: key)
            for (machine, customer) in zip(machines, ["dev-a", "dev-b"]) {
                let item = try submit(
                    machine.install(), of: customer, as: "app_transaction")["items"]?.array?.first
                #expect(item?["outcome"]?.string == "recorded", "\(item ?? .null)")
            }
            func customers(_ account: String) throws -> [String] {
                let path = "\(service.url)/v1/app_transactions/\(account)?environment=sandbox"
                return try client.read(path)["customers"]?.array?.compactMap(\.string) ?? []
            }
            #expect(try customers("0") == [])
            for (machine, customer) in zip(machines, ["dev-a", "dev-b"]) {
                #expect(try customers("xcode-\(machine.mark)-0") == [customer])
            }
        }

        @Test("A fourth customer of one machine is refused, and one of another machine is not")
        func shared() throws {
            func outcome(_ customer: String, _ machine: Machine) throws -> String? {
                let answer = try submit(machine.install(), of: customer, as: "app_transaction")
                let item = answer["items"]?.array?.first
                return item?["code"]?.string ?? item?["outcome"]?.string
            }
            let told = try (1...5).map { try outcome("dev-\($0)", machines[0]) }
            #expect(
                told == ["recorded", "recorded", "recorded", "account_shared", "account_shared"])
            #expect(try outcome("dev-5", machines[1]) == "recorded")
            #expect(
                try deed.run("project", "set", "--customers-per-account", "none").code == 0)
            #expect(try outcome("dev-5", machines[0]) == "recorded")
            #expect(try deed.run("audit").code == 0)
            #expect(try deed.run("audit", "--projections").code == 0)
        }

        @Test("A date that no view could show is refused by its member, and every view answers")
        func dates() throws {
            for (member, value) in [
                ("purchaseDate", Int64.min), ("originalPurchaseDate", -1),
                ("expiresDate", .max), ("revocationDate", 253_402_300_800_000),
            ] {
                let signed = machines[0].buy(
                    "level2", as: 0, at: 1_682_935_199_500, [member: .integer(value)])
                let item = try submit(signed, of: "dev-a")["items"]?.array?.first
                #expect(item?["outcome"]?.string == "refused", "\(member)")
                #expect(item?["code"]?.string == "invalid_member", "\(item ?? .null)")
                let detail = item?["detail"]?.string ?? ""
                #expect(detail.contains(member) && detail.contains("1970"), "\(detail)")
            }
            let last = machines[0].buy(
                "level2", as: 1, at: 1_682_935_199_500, ["expiresDate": 253_402_300_799_999])
            let item = try submit(last, of: "dev-a")["items"]?.array?.first
            #expect(item?["outcome"]?.string == "recorded", "\(item ?? .null)")
            try database.readEveryView()
        }

        @Test("A text that no view could show is refused by its member, and every view answers")
        func texts() throws {
            let members = [
                "type", "inAppOwnershipType", "currency", "subscriptionGroupIdentifier",
                "webOrderLineItemId", "revocationReason", "revocationType", "offerType",
                "offerDiscountType", "offerIdentifier", "offerPeriod", "appAccountToken",
            ]
            for (number, member) in members.enumerated() {
                let signed = machines[0].buy(
                    "level2", as: number, at: 1_682_935_199_500,
                    ["price": 990, "revocationDate": 1_682_935_199_600, member: "a\u{0}"])
                let item = try submit(signed, of: "dev-a")["items"]?.array?.first
                #expect(item?["outcome"]?.string == "refused", "\(member)")
                #expect(item?["code"]?.string == "invalid_member", "\(item ?? .null)")
                #expect(item?["detail"]?.string?.contains(member) == true, "\(item ?? .null)")
                try database.readEveryView()
            }
            // Members that Deed does not read may have any content.
            let other = machines[0].buy(
                "level2", as: members.count, at: 1_682_935_199_500, ["storefront": "a\u{0}"])
            let item = try submit(other, of: "dev-a")["items"]?.array?.first
            #expect(item?["outcome"]?.string == "recorded", "\(item ?? .null)")
            try database.readEveryView()
            let audit = try deed.run("audit", "--evidence", "--extra-roots", folder.path)
            #expect(audit.code == 0, "\(audit.output)\(audit.errors)")
        }

        @Test("The customer, the explanation and the events mark them")
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

/// A developer's machine with its own certificate.
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

    /// Returns a purchase as Xcode gives it to the app.
    func buy(
        _ product: String, as number: Int, at milliseconds: Int64, _ other: [String: JSON] = [:]
    ) -> String {
        let members: JSON = [
            "transactionId": .string("\(number)"), "originalTransactionId": .string("\(number)"),
            "bundleId": "com.example.game", "productId": .string(product),
            "purchaseDate": .integer(milliseconds),
            "originalPurchaseDate": .integer(milliseconds), "quantity": 1,
            "type": product == "level2" ? "Non-Consumable" : "Consumable",
            "signedDate": .integer(milliseconds + 10), "environment": "Xcode",
            "inAppOwnershipType": "PURCHASED",
        ]
        var payload = Payload(members.object?.members.map { ($0.name, $0.value) } ?? [])
        for (name, value) in other { payload[name] = value }
        return sign(payload.json)
    }

    /// Returns the machine's app transaction.
    func install() -> String {
        sign([
            "receiptType": "Xcode", "bundleId": "com.example.game", "applicationVersion": "1",
            "originalApplicationVersion": "1", "appTransactionId": "0",
            "originalPurchaseDate": -62_135_769_600_000,
            "receiptCreationDate": 1_682_935_199_500,
        ])
    }

    /// The first eight digits of the certificate's digest, which Deed adds to names.
    var mark: String { String(MintedDigest.sha256.of(signer.der).hexDigits.prefix(8)) }

    private func sign(_ payload: JSON) -> String {
        var plan = SignedJSONPlan(payload)
        plan.certificates = [signer.der]
        plan.key = signer.key
        plan.extraHeader = [("kid", "Apple_Xcode_Key"), ("typ", "JWT")]
        return String(decoding: plan.bytes, as: UTF8.self)
    }
}
