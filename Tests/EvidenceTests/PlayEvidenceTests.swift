import Auditing
import Core
import Crypto
import JSON
import Telemetry
import Testing

@testable import Evidence

@Suite("Google's answers as evidence")
struct PlayEvidenceTests {
    private let metrics = Metrics()
    private let now = Instant(milliseconds: 1_780_000_000_000)

    private func answer(
        _ body: String, _ kind: EvidenceKind = .playSubscription, app: AppID = .example,
        product: String? = nil, root: TransactionID? = nil
    ) throws -> PlayAnswer {
        PlayAnswer(
            kind, body: Array(body.utf8), app: app, token: "token.A",
            product: try product.map { try ProductID($0) }, root: root, readAt: now)
    }

    private func prove(_ answer: PlayAnswer) throws(RefusedEvidence) -> ProvenEvidence {
        try Prover(PlayEvidence(), metrics: metrics).prove(
            answer.fetched, for: Terms.usual.apps, now: now)
    }

    private func refusal(_ answer: PlayAnswer) -> String? {
        do throws(RefusedEvidence) {
            _ = try prove(answer)
            return nil
        } catch {
            return error.code
        }
    }

    private static func subscription(
        _ state: String = "ACTIVE", _ more: String = "", item: String = ""
    ) -> String {
        """
        {"subscriptionState":"SUBSCRIPTION_STATE_\(state)","startTime":"2026-01-01T00:00:00Z",\(more)
         "etag":"e","lineItems":[{"productId":"pro","expiryTime":"2026-02-01T00:00:00Z",\(item)
         "latestSuccessfulOrderId":"GPA.1..0"}]}
        """
    }

    @Test("An answer is kept with what was asked, and read back the same")
    func envelope() throws {
        let bodies: [[UInt8]] = [
            Array(#"{"a":"\u0000é"}"#.utf8), [], [0xFF, 0x00, 0x7B], Array("half {".utf8),
        ]
        for body in bodies {
            for root in [nil, TransactionID(playToken: "older")] {
                let answer = PlayAnswer(
                    .playProduct, body: body, app: .example, token: "t",
                    product: try ProductID("coins"), root: root, readAt: now)
                #expect(try PlayAnswer(bytes: answer.bytes) == answer)
                #expect(answer.bytes == answer.bytes)
            }
        }
        let text = String(decoding: try answer("{}").bytes, as: UTF8.self)
        #expect(
            text
                == #"{"kind":"google_subscription","package":"com.example.app","token":"token.A","#
                + #""read_at":"\#(now.text)","body":"{}"}"#)
    }

    @Test("A subscription states its items, under the name of its token or of the first one")
    func subscription() throws {
        let body = Self.subscription(
            "ACTIVE",
            #""externalAccountIdentifiers":{"obfuscatedExternalAccountId":"player 7"},"#,
            item: #""autoRenewingPlan":{"autoRenewEnabled":true},"#)
        let proven = try prove(try answer(body))
        let fact = try #require(proven.facts.transactions.first)
        #expect(proven.environment == .production && proven.app == .example)
        #expect(proven.record.kind == "google_subscription" && proven.record.signedAt == now)
        #expect(fact.transaction.text == "GPA.1..0" && fact.rank == .serverAPI)
        #expect(fact.original == TransactionID(playToken: "token.A"))
        #expect(fact.original.text.utf8.count == 32 && fact.accountToken == "player 7")
        #expect(fact.reading?.state == .active && fact.reading?.token == "token.A")
        #expect(fact.reading?.items.first?.willRenew == true)
        let root = TransactionID(playToken: "older")
        #expect(
            try prove(try answer(body, root: root)).facts.transactions.first?.original == root)
    }

    @Test("A test purchase is sandbox")
    func test() throws {
        let proven = try prove(try answer(Self.subscription("ACTIVE", #""testPurchase":{},"#)))
        #expect(proven.environment == .sandbox)
        #expect(proven.facts.transactions.map(\.environment) == [.sandbox])
        let good = #"{"purchaseState":0,"purchaseType":0,"purchaseTimeMillis":"1"}"#
        #expect(try prove(try answer(good, .playProduct, product: "coins")).environment == .sandbox)
    }

    static let states: [(String, Reading.State?)] = [
        ("PENDING", nil), ("PENDING_PURCHASE_CANCELED", nil), ("ACTIVE", .active),
        ("IN_GRACE_PERIOD", .grace), ("ON_HOLD", .onHold), ("PAUSED", .paused),
        ("CANCELED", .cancelled), ("EXPIRED", .expired),
        ("MOONLIT", .unknown("SUBSCRIPTION_STATE_MOONLIT")),
    ]

    @Test("Each state is read; what is not paid states nothing", arguments: states)
    func state(_ word: String, _ state: Reading.State?) throws {
        let proven = try prove(try answer(Self.subscription(word)))
        #expect(proven.facts.transactions.first?.reading?.state == state)
        let isUnread = metrics.text().contains("\ndeed_evidence_unread_total 1\n")
        #expect(isUnread == (word == "MOONLIT"))
    }

    @Test("What Google leaves out is absent, and numbers may be texts")
    func leftOut() throws {
        let least = try prove(try answer(#"{"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED"}"#))
        #expect(least.facts.transactions.first?.reading?.items == [])
        let good = """
            {"purchaseState":"0","quantity":"3","refundableQuantity":"1","orderId":"GPA.7",
             "purchaseTimeMillis":1767225600000}
            """
        let proven = try prove(try answer(good, .playProduct, product: "coins"))
        let fact = try #require(proven.facts.transactions.first)
        #expect(fact.quantity == 3 && fact.reading?.items.first?.refundable == 1)
        #expect(fact.purchased == Instant(milliseconds: 1_767_225_600_000))
    }

    @Test("A purchase of one-time products states quantities, rentals and releases")
    func goods() throws {
        let body = """
            {"purchaseStateContext":{"purchaseState":"PURCHASED"},"orderId":"GPA.9",
             "purchaseCompletionTime":"2026-01-01T00:00:00Z","productLineItem":[
              {"productId":"film","productOfferDetails":{"rentOfferDetails":{}}},
              {"productId":"game","productOfferDetails":{"quantity":2,"refundableQuantity":"1",
               "preorderOfferDetails":{"preorderReleaseTime":"2026-03-01T00:00:00Z"}}}]}
            """
        let fact = try #require(
            try prove(try answer(body, .playPurchase)).facts.transactions.first)
        let items = try #require(fact.reading?.items)
        #expect(fact.transaction.text == "\(TransactionID(playToken: "token.A")):film")
        #expect(fact.lineItem == "GPA.9" && fact.kind == .nonRenewing)
        #expect(items[0].isRented && items[1].isOrderedInAdvance && items[1].quantity == 2)
        #expect(items[1].releasedAt?.text == "2026-03-01T00:00:00.000Z")
        for state in ["PENDING", "CANCELLED"] {
            let unpaid = #"{"purchaseStateContext":{"purchaseState":"\#(state)"}}"#
            #expect(try prove(try answer(unpaid, .playPurchase)).facts.transactions.isEmpty)
        }
    }

    @Test("A customer who came back in Play's own screens is known by the expired purchase")
    func comesBack() throws {
        let body = Self.subscription(
            "ACTIVE",
            """
            "outOfAppPurchaseContext":{"expiredPurchaseToken":"older",
             "expiredExternalAccountIdentifiers":{"obfuscatedExternalAccountId":"a"}},
            """)
        let fact = try #require(try prove(try answer(body)).facts.transactions.first)
        #expect(fact.accountToken == "a" && fact.reading?.comesBack?.token == "older")
        #expect(fact.reading?.continues == TransactionID(playToken: "older"))
    }

    @Test("What is no answer about a purchase of a configured app is refused by its reason")
    func refused() throws {
        let whole = Self.subscription()
        #expect(refusal(try answer(String(whole.prefix(whole.utf8.count / 2)))) == "bad_json")
        #expect(refusal(try answer("[]")) == "bad_json")
        #expect(refusal(try answer("")) == "bad_json")
        #expect(refusal(try answer("{}")) == "invalid_member")
        #expect(refusal(try answer(#"{"subscriptionState":7}"#)) == "invalid_member")
        #expect(refusal(try answer(whole, app: try AppID("com.other"))) == "foreign_package")
        #expect(refusal(try answer("{}", .playProduct)) == "invalid_member")
    }

    @Test("A token proves nothing, nor does an answer that somebody hands in")
    func unsigned() throws {
        let prover = Prover(PlayEvidence(), metrics: metrics)
        let spaced = #"{ "token":"t", "package":"com.example.app" }"#
        let plain = #"{"package":"com.example.app","token":"t"}"#
        let token = RawEvidence(.playToken, Array(spaced.utf8))
        #expect(try prover.bare(token).bytes == Array(plain.utf8))
        let heading = try prover.heading(of: token)
        #expect(heading.app == .example && heading.environment == .production)
        let answer = RawEvidence(.playSubscription, try self.answer(Self.subscription()).bytes)
        for raw in [token, answer] {
            do throws(RefusedEvidence) {
                _ = try prover.prove(raw, for: Terms.usual.apps, now: now)
                Issue.record("\(raw.kind.word) is believed")
            } catch {
                #expect(error.code == "unsigned")
            }
        }
        for bad in [#"{"package":"com.example.app"}"#, #"{"package":"p","token":"a b"}"#] {
            #expect(throws: RefusedEvidence.self) {
                try prover.bare(RawEvidence(.playToken, Array(bad.utf8)))
            }
        }
    }

    @Test("A kept answer is read again years later, and says the same")
    func again() throws {
        let proven = try prove(try answer(Self.subscription()))
        let stores: [any StoreEvidence] = [Verifier.trusting, PlayEvidence()]
        let filed = FiledEvidence(
            digest: proven.record.digest, project: "default", environment: "production",
            kind: proven.record.kind, app: proven.app.text, signedAt: proven.record.signedAt,
            firstSeenAt: now, verdict: FiledEvidence.believed, content: proven.record.content,
            certificates: [], isSealed: true)
        guard case .proven(let again) = stores.proveAgain(filed) else {
            Issue.record("it is not proven again")
            return
        }
        #expect(again.facts == proven.facts && again.app == .example)
    }

    @Test("A file with an answer or a token is told for what it is")
    func examination() throws {
        let question = EvidenceQuestion(now: now)
        let kept = Verifier.trusting.examine(try answer(Self.subscription()).bytes, question)
        #expect(kept.kind == .playSubscription && kept.refusal?.code == "unsigned")
        #expect(kept.statement?.purchases.map(\.transaction.text) == ["GPA.1..0"])
        let token = Array(#"{"package":"com.example.app","token":"t"}"#.utf8)
        let asked = Verifier.trusting.examine(token, question)
        #expect(asked.kind == .playToken && asked.refusal?.code == "unsigned")
    }
}
