import Core
import Evidence
import JSON
import Testing

@Suite("What Google Play answers about a subscription")
struct PlaySubscriptionTests {
    private func read(_ text: String) throws -> PlaySubscriptionStatement {
        try PlaySubscriptionStatement(answer: Array(text.utf8))
    }

    private func with(_ members: String, items: String = "") throws -> PlaySubscriptionStatement {
        try read(
            """
            {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","lineItems":[\(items)]\
            \(members.isEmpty ? "" : ",")\(members)}
            """)
    }

    private func item(_ members: String) throws -> PlayItemStatement {
        let more = members.isEmpty ? "" : ",\(members)"
        return try #require(try with("", items: #"{"productId":"pro"\#(more)}"#).items.first)
    }

    @Test("Each state has its case, and one that is not known keeps its word")
    func states() throws {
        let rows: [(String, PlaySubscriptionStatement.State)] = [
            ("PENDING", .pending), ("PENDING_PURCHASE_CANCELED", .pendingPurchaseCanceled),
            ("ACTIVE", .active), ("IN_GRACE_PERIOD", .inGracePeriod), ("ON_HOLD", .onHold),
            ("PAUSED", .paused), ("CANCELED", .canceled), ("EXPIRED", .expired),
            ("MOONLIT", .unknown("SUBSCRIPTION_STATE_MOONLIT")),
        ]
        for (word, state) in rows {
            let text = #"{"subscriptionState":"SUBSCRIPTION_STATE_\#(word)"}"#
            #expect(try read(text).state == state)
        }
    }

    @Test("The least that Google answers leaves everything else absent")
    func least() throws {
        let least = try with("")
        #expect(least.items.isEmpty && least.startedAt == nil && least.linkedToken == nil)
        #expect(least.accounts == nil && least.comesBack == nil && least.cancellation == nil)
        #expect(!least.isAcknowledged && !least.isTest)
        let bare = try item("")
        #expect(bare.plan == .unknown && bare.order == nil && bare.expiresAt == nil)
        #expect(bare.phase == nil && !bare.isRemoved && bare.offerTags == [])
    }

    @Test("Times have none to nine digits of a fraction, and offsets")
    func times() throws {
        let rows: [(String, String)] = [
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.100Z"),
            ("2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123Z"),
            ("2026-01-02T05:04:05.120+02:00", "2026-01-02T03:04:05.120Z"),
        ]
        for (text, instant) in rows {
            #expect(try with(#""startTime":"\#(text)""#).startedAt?.text == instant)
        }
    }

    @Test("Members around the items are read")
    func heading() throws {
        let all = try with(
            """
            "startTime":"2026-01-01T00:00:00Z","acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
            "linkedPurchaseToken":"older","testPurchase":{},"etag":"e-1","regionCode":"DE",
            "externalAccountIdentifiers":{"externalAccountId":"x","obfuscatedExternalAccountId":"a",
              "obfuscatedExternalProfileId":"p"},
            "outOfAppPurchaseContext":{"expiredPurchaseToken":"gone",
              "expiredExternalAccountIdentifiers":{"obfuscatedExternalAccountId":"b"}},
            "pausedStateContext":{"autoResumeTime":"2026-03-01T00:00:00Z"}
            """)
        #expect(all.isAcknowledged && all.isTest)
        #expect(all.linkedToken == "older" && all.entityTag == "e-1" && all.region == "DE")
        #expect(all.accounts == PlayAccounts(account: "a", profile: "p", linked: "x"))
        #expect(all.comesBack?.token == "gone")
        #expect(all.comesBack?.accounts == PlayAccounts(account: "b"))
        #expect(all.resumesAt?.text == "2026-03-01T00:00:00.000Z")
    }

    @Test("A cancellation says who cancelled, and a failing payment its order")
    func contexts() throws {
        let rows: [(String, PlaySubscriptionStatement.Cancellation?)] = [
            (
                #"{"userInitiatedCancellation":{"cancelTime":"2026-01-01T00:00:00Z"}}"#,
                .user(at: Instant(text: "2026-01-01T00:00:00Z"))
            ),
            (#"{"userInitiatedCancellation":{}}"#, .user(at: nil)),
            (#"{"systemInitiatedCancellation":{}}"#, .system),
            (#"{"developerInitiatedCancellation":{}}"#, .developer),
            (#"{"replacementCancellation":{}}"#, .replacement), (#"{"moonlight":{}}"#, nil),
        ]
        for (text, cancellation) in rows {
            #expect(try with(#""canceledStateContext":\#(text)"#).cancellation == cancellation)
        }
        for name in ["inGracePeriodStateContext", "onHoldStateContext"] {
            let failing = try with(#""\#(name)":{"renewalDeclined":{"pendingOrderId":"GPA.1..2"}}"#)
            #expect(failing.declinedOrder == "GPA.1..2")
        }
    }

    @Test("A renewing plan renews only if it says so")
    func renewing() throws {
        func renewal(_ text: String) throws -> PlayRenewal? {
            guard case .autoRenewing(let renewal) = try item(#""autoRenewingPlan":\#(text)"#).plan
            else { return nil }
            return renewal
        }
        #expect(try renewal("{}")?.renews == false)
        #expect(try renewal(#"{"autoRenewEnabled":false}"#)?.renews == false)
        let full = try renewal(
            """
            {"autoRenewEnabled":true,"recurringPrice":{"currencyCode":"EUR","units":"9","nanos":990000000},
             "priceChangeDetails":{"newPrice":{"currencyCode":"EUR","units":12},"priceChangeMode":"PRICE_INCREASE",
               "priceChangeState":"OUTSTANDING","expectedNewPriceChargeTime":"2026-05-01T00:00:00Z"},
             "priceStepUpConsentDetails":{"state":"PENDING","consentDeadlineTime":"2026-04-01T00:00:00Z"},
             "installmentDetails":{"initialCommittedPaymentsCount":12,"remainingCommittedPaymentsCount":"3",
               "subsequentCommittedPaymentsCount":6,"pendingCancellation":{}}}
            """)
        #expect(full?.renews == true)
        #expect(full?.price == PlayMoney(currency: "EUR", units: 9, nanos: 990_000_000))
        #expect(full?.change?.price == PlayMoney(currency: "EUR", units: 12, nanos: 0))
        #expect(full?.change?.state == "OUTSTANDING" && full?.change?.mode == "PRICE_INCREASE")
        #expect(full?.step?.state == "PENDING" && full?.step?.deadline != nil)
        #expect(full?.instalments?.paymentsLeft == 3 && full?.instalments?.laterPayments == 6)
        #expect(full?.instalments?.endsWithCommitment == true)
        let open = try renewal(#"{"installmentDetails":{"initialCommittedPaymentsCount":12}}"#)
        #expect(open?.instalments?.paymentsLeft == 0)
        #expect(open?.instalments?.endsWithCommitment == false)
    }

    @Test("A prepaid plan may say from when it is topped up")
    func prepaid() throws {
        #expect(try item(#""prepaidPlan":{}"#).plan == .prepaid(topUpFrom: nil))
        let open = try item(#""prepaidPlan":{"allowExtendAfterTime":"2026-01-01T00:00:00Z"}"#)
        #expect(open.plan == .prepaid(topUpFrom: Instant(text: "2026-01-01T00:00:00Z")))
    }

    @Test("A deferred change has two items, of which one is not owned")
    func deferred() throws {
        let both = try with(
            "",
            items: """
                {"productId":"pro","expiryTime":"2026-02-01T00:00:00Z","latestSuccessfulOrderId":"GPA.1",
                 "autoRenewingPlan":{},"offerDetails":{"basePlanId":"monthly","offerId":"trial","offerTags":["a","b"]},
                 "offerPhase":{"freeTrial":{}},"deferredItemReplacement":{"productId":"premium"}},
                {"productId":"premium","autoRenewingPlan":{"autoRenewEnabled":true},
                 "deferredItemRemoval":{},"itemReplacement":{"productId":"pro","basePlanId":"monthly",
                 "replacementMode":"DEFERRED"}}
                """
        ).items
        #expect(both.map(\.product) == ["pro", "premium"])
        #expect(both[0].replacedBy == "premium" && both[0].order == "GPA.1")
        #expect(both[0].basePlan == "monthly" && both[0].offer == "trial")
        #expect(both[0].offerTags == ["a", "b"] && both[0].phase == .freeTrial)
        #expect(both[1].order == nil && both[1].expiresAt == nil && both[1].isRemoved)
        #expect(both[1].replaces?.product == "pro" && both[1].replaces?.mode == "DEFERRED")
    }

    @Test("A phase that is not known is one all the same")
    func phases() throws {
        let rows: [(String, PlayItemStatement.Phase)] = [
            ("basePrice", .basePrice), ("introductoryPrice", .introductoryPrice),
            ("freeTrial", .freeTrial), ("prorationPeriod", .proration), ("moonlight", .unknown),
        ]
        for (name, phase) in rows {
            #expect(try item(#""offerPhase":{"\#(name)":{}}"#).phase == phase)
        }
    }

    @Test("A member of a wrong type is named by its path")
    func refused() throws {
        let many = String(repeating: #"{"productId":"p"},"#, count: 201).dropLast()
        let rows: [(String, String)] = [
            ("[]", "not a JSON object"), ("{", "JSON"), ("{}", "subscriptionState"),
            (#"{"subscriptionState":1}"#, "subscriptionState"),
            (#"{"subscriptionState":"S","lineItems":{}}"#, "lineItems"),
            (#"{"subscriptionState":"S","lineItems":[1]}"#, "lineItems[0]"),
            (#"{"subscriptionState":"S","lineItems":[{}]}"#, "lineItems[0].productId"),
            (#"{"subscriptionState":"S","lineItems":[\#(many)]}"#, "lineItems"),
            (
                #"{"subscriptionState":"S","lineItems":[{"productId":"p","expiryTime":"soon"}]}"#,
                "lineItems[0].expiryTime"
            ),
            (#"{"subscriptionState":"S","startTime":"0001-01-01T00:00:00Z"}"#, "startTime"),
            (
                #"{"subscriptionState":"S","lineItems":[{"productId":"p","autoRenewingPlan":{"autoRenewEnabled":"yes"}}]}"#,
                "lineItems[0].autoRenewingPlan.autoRenewEnabled"
            ),
        ]
        for (text, words) in rows {
            let error = #expect(throws: EvidenceRefusal.self) { try read(text) }
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        }
    }
}
