import Core
import Evidence
import Histories
import JSON
import Ledger
import Minting
import Service
import Telemetry
import TestSupport
import Testing

/// A change to the stored evidence of a submission, and the column that the audit must name.
private struct EvidenceTampering: Sendable, CustomTestStringConvertible {
    let statement: String
    let column: String

    init(_ statement: String, _ column: String) {
        self.statement = statement
        self.column = column
    }

    var testDescription: String { statement }
}

extension ProgramTests {
    @Suite("deed audit --evidence")
    final class EvidenceAuditTests: SandboxShop {
        private func sale(_ transaction: String, _ product: String = "level2") -> Sale {
            Sale(transaction, product, .nonConsumable, at: Payload.signedAt)
        }

        /// Submits a signed transaction, with an idempotency key or without.
        private func submit(_ transaction: String, key: String?) throws {
            let body: JSON = [
                "signed_transactions": [.string(store.transaction(sale(transaction)))],
                "environment": "sandbox",
            ]
            let reply = service.send(
                "POST", "/v1/customers/u1/receipts", key: try service.key(.backend),
                headers: key.map { [("Idempotency-Key", $0)] } ?? [], body: body.text)
            #expect(reply.status == 200, "\(reply.text)")
        }

        private func notify() throws {
            let reply = service.send(
                "POST", "/v1/stores/apple/notifications",
                body: store.notification("TEST", id: "test-1", at: Payload.signedAt))
            #expect(reply.status == 200, "\(reply.text)")
        }

        private func audit() throws -> (code: Int32, evidence: JSON?) {
            let audit = try deed.run(
                "audit", "--evidence", "--extra-roots", folder.path + "/roots", "--json")
            return (audit.code, try audit.json["evidence"])
        }

        @Test(
            "Events name the evidence behind them, with and without an Idempotency-Key")
        func named() throws {
            try submit("1", key: nil)
            try submit("2", key: "k2")
            try notify()
            let unnamed = """
                select count(*) from deed.events as e where e.type = 'purchase.made' and not exists (
                    select from deed.evidence as v where v.digest = e.evidence)
                """
            #expect(try database.number(unnamed) == 0)
            let (code, evidence) = try audit()
            #expect(code == 0, "\(evidence?.text ?? "")")
            #expect(evidence?["proven"] == 3 && evidence?["findings"] == [])
        }

        @Test(
            "Every kind of evidence is proven again from its bytes, by the given roots only"
        )
        func kinds() throws {
            let receipt = store.receipt([sale("3")], at: Payload.signedAt)
            let app = store.appTransaction(originalVersion: "1.0", at: Payload.signedAt)
            let submissions: [(customer: String, body: JSON)] = [
                ("u1", ["receipt": .string(receipt), "environment": "sandbox"]),
                (
                    "u2",
                    [
                        "app_transaction": .string(app), "environment": "sandbox",
                        "signed_transactions": [.string(store.transaction(sale("4")))],
                    ]
                ),
            ]
            for (customer, body) in submissions {
                let reply = service.send(
                    "POST", "/v1/customers/\(customer)/receipts", key: try service.key(.backend),
                    body: body.text)
                #expect(reply.status == 200, "\(reply.text)")
            }
            try notify()
            var (code, evidence) = try audit()
            #expect(code == 0 && evidence?["proven"] == 4, "\(evidence?.text ?? "")")
            let unrooted = try deed.run("audit", "--evidence", "--json")
            #expect(try unrooted.code == 1 && unrooted.json["evidence"]?["failing"] == 4)
            #expect(unrooted.errors.contains("evidence_unproven"))
            try database.run("update deed.certificates set der = '\\x30' where true")
            #expect(unrooted.errors.contains("--extra-roots"))
            (code, evidence) = try audit()
            #expect(code == 1 && evidence?["proven"] == 0 && evidence?["failing"] == 4)
            #expect(try deed.run("audit").code == 0)
        }

        @Test(
            "Changed, missing and added evidence is named with its digest and column",
            arguments: [
                EvidenceTampering("update deed.evidence set verdict = 'refused'", "verdict"),
                EvidenceTampering(
                    "update deed.evidence set signed_at = signed_at + 1", "signed_at"),
                EvidenceTampering(
                    "update deed.evidence set first_seen_at = first_seen_at # 1", "seal"),
                EvidenceTampering("update deed.evidence set app = 'com.example.gamf'", "app"),
                EvidenceTampering("update deed.evidence set project = 'defaulu'", "project"),
                EvidenceTampering(
                    "update deed.evidence set environment = 'production'", "environment"),
                EvidenceTampering("update deed.evidence set project = 'another'", "project"),
                EvidenceTampering("update deed.evidence set kind = 'app_receipt'", "seal"),
                EvidenceTampering("delete from deed.certificates", "certificates"),
                EvidenceTampering(
                    "update deed.evidence set content = set_byte(content, 99, get_byte(content, 99) # 1)",
                    "content"),
                EvidenceTampering(
                    """
                    update deed.evidence
                    set certificates = set_byte(certificates, 40, get_byte(certificates, 40) # 1)
                    """, "certificates"),
                EvidenceTampering("update deed.evidence set seal = set_byte(seal, 0, 0)", "seal"),
                EvidenceTampering(
                    "update deed.evidence set first_seen_at = first_seen_at + 5, seal = sha256('')",
                    "seal"),
                EvidenceTampering("delete from deed.evidence", "digest"),
                EvidenceTampering(
                    """
                    update deed.evidence set digest = set_byte(digest, 5, get_byte(digest, 5) # 1)
                    """, "digest"),
            ])
        fileprivate func tampered(_ tampering: EvidenceTampering) throws {
            try submit("1", key: "k1")
            let digest =
                "select ('x' || left(encode(digest, 'hex'), 15))::bit(60)::bigint from deed.evidence"
            let named = String(try database.number(digest), radix: 16)
            try database.run(tampering.statement)
            let (code, evidence) = try audit()
            #expect(code == 1)
            let finding = evidence?["findings"]?.array?.first { finding in
                finding["column"]?.string == tampering.column
                    && finding["table"]?.string == "deed.evidence"
            }
            #expect(finding != nil, "\(evidence?.text ?? "")")
            #expect(finding?["row"]?.string?.contains(named) == true)
        }

        @Test("One missing piece among many is named, and all of them if all are gone")
        func missing() throws {
            for number in 1...3 { try submit("\(number)", key: number == 2 ? nil : "k\(number)") }
            try database.run(
                """
                delete from deed.evidence where digest =
                    (select evidence from deed.events where type = 'purchase.made' order by seq limit 1)
                """)
            #expect(try audit().evidence?["findings"]?.array?.count == 1)
            try database.run("delete from deed.evidence")
            let (code, evidence) = try audit()
            #expect(code == 1)
            #expect(evidence?["findings"]?.array?.count == 3)
        }

        @Test(
            "Believed evidence without an event is named; a notification needs none"
        )
        func unsupporting() throws {
            try submit("1", key: nil)
            try notify()
            let app = TrustedApp(
                id: try AppID(Payload.bundleID), appleID: nil, environments: [.sandbox])
            let proven = try Prover(minted: Metrics()).prove(
                RawEvidence(.signedTransaction, Array(store.transaction(sale("9")).utf8)),
                for: [app], now: service.clock.now)
            let ledger = database.ledger()
            defer { ledger.close() }
            var command = try Command.record(
                Facts(), for: .test("u1", environment: .sandbox), key: "9")
            command.evidence = [proven.record.keptAlways]
            _ = try ledger.append(command)
            let (code, evidence) = try audit()
            #expect(code == 1)
            #expect(
                evidence?["findings"]?.array?.map { $0["row"]?.string } == [
                    proven.record.digest.hexText
                ])
        }

        @Test(
            "A purchase without supporting evidence is named by its position, whatever it claims"
        )
        func unsupported() throws {
            try submit("1", key: nil)
            let ledger = database.ledger()
            defer { ledger.close() }
            let forged = try TransactionFact.bought(
                "level2", .nonConsumable, transaction: "777", at: Payload.signedAt)
            _ = try ledger.append(.record([forged], for: .test("u3"), key: "forged"))
            let position = try ledger.events(of: .test("u3"), after: 0, limit: 1)[0].recorded
                .position
            let (code, evidence) = try audit()
            #expect(code == 1)
            let finding = evidence?["findings"]?.array?.first
            #expect(finding?["row"]?.string == "\(position)")
            #expect(finding?["found"]?.string == "none about transaction 777")
            #expect(
                finding?["table"]?.string == "deed.events"
                    && finding?["column"]?.string == "payload")
        }

        @Test(
            "An event states what its evidence states, for its own environment",
            arguments: [
                ("u1", "sandbox", 1), ("u2", "sandbox", 9_000_000_000), ("u2", "production", 0),
            ])
        func distorted(_ customer: String, _ environment: String, _ longer: Int64) throws {
            try submit("1", key: nil)
            let ledger = database.ledger()
            defer { ledger.close() }
            let entry = try ledger.events(
                of: .test("u1", environment: .sandbox), after: 0, limit: 1)[0]
            guard case .purchaseMade(var fact) = entry.recorded.event else {
                Issue.record("\(entry)")
                return
            }
            if longer > 0 { fact.expires = Payload.signedAt.advanced(byMilliseconds: longer) }
            // Forges an event for another customer with the digest of real evidence. The service's
            // own login can do that.
            let world = try #require(Environment(rawValue: environment))
            let forged = fact
            var command = Command(
                stream: try .test("forged-\(customer)", environment: world),
                actor: try Actor("test"),
                cause: Cause(text: "key:forged", digest: [UInt8](repeating: 0, count: 32))
            ) { _ in
                Decision(
                    parts: [
                        .init(
                            customer: try! CustomerID("forged-\(customer)"),
                            events: [.purchaseMade(forged)], restsOn: 0)
                    ])
            }
            command.purchases = [HeldPurchase(app: fact.app, purchase: fact.purchase)]
            let app = TrustedApp(
                id: try AppID(Payload.bundleID), appleID: nil, environments: [.sandbox])
            command.evidence = [
                try Prover(minted: Metrics()).prove(
                    RawEvidence(.signedTransaction, Array(store.transaction(sale("1")).utf8)),
                    for: [app], now: service.clock.now
                ).record
            ]
            try database.run("delete from deed.holders")
            _ = try ledger.append(command)
            let (code, evidence) = try audit()
            #expect(code == 1, "\(evidence?.text ?? "")")
        }

        @Test("The service's login cannot file evidence as a digest only")
        func digestOnly() throws {
            try submit("1", key: nil)
            #expect(throws: (any Error).self) {
                try database.run(
                    """
                    insert into deed.evidence select set_byte(digest, 0, 1), project, environment, kind, app,
                        signed_at, first_seen_at, verdict, null, certificates, seal from deed.evidence
                    """, role: LedgerSettings.serviceRole)
            }
        }

        @Test("Evidence whose content was erased is exempt")
        func erased() throws {
            try submit("1", key: nil)
            try database.run("update deed.evidence set content = null")
            let (code, evidence) = try audit()
            #expect(code == 0 && evidence?["digest_only"] == 1, "\(evidence?.text ?? "")")
        }
    }
}

extension EvidenceRecord {
    /// The record as if it came from a notification, which Deed always keeps.
    fileprivate var keptAlways: EvidenceRecord {
        EvidenceRecord(
            digest: digest, kind: kind, app: app, signedAt: signedAt, content: content,
            certificates: certificates, isKeptAlways: true)
    }
}

extension [UInt8] {
    fileprivate var hexText: String {
        map { String(256 + Int($0), radix: 16).dropFirst() }.joined()
    }
}
