import Core
import Evidence
import JSON
import Testing

@Suite("What Google Play answers about one-time products")
struct PlayPurchaseTests {
    private func new(_ text: String) throws -> PlayPurchaseStatement {
        try PlayPurchaseStatement(answer: Array(text.utf8))
    }

    private func old(_ text: String) throws -> PlayPurchaseStatement {
        try PlayPurchaseStatement(oldAnswer: Array(text.utf8), about: "coins")
    }

    @Test("Both forms have their words for a state")
    func states() throws {
        let rows: [(String, Int, PlayPurchaseStatement.State)] = [
            ("PURCHASED", 0, .purchased), ("CANCELLED", 1, .cancelled), ("PENDING", 2, .pending),
        ]
        for (word, number, state) in rows {
            let text = #"{"purchaseStateContext":{"purchaseState":"\#(word)"}}"#
            #expect(try new(text).state == state)
            #expect(try old(#"{"purchaseState":\#(number)}"#).state == state)
            #expect(try old(#"{"purchaseState":"\#(number)"}"#).state == state)
        }
        #expect(
            try new(#"{"purchaseStateContext":{"purchaseState":"LENT"}}"#).state == .unknown("LENT")
        )
        #expect(try new("{}").state == .unknown(""))
        #expect(try old(#"{"purchaseState":7}"#).state == .unknown("7"))
        #expect(try old("{}").state == .unknown(""))
        #expect(try old(#"{"purchaseTimeMillis":"1767225600000"}"#).state == .purchased)
    }

    @Test("The second form has items, with what is left to refund, rentals and orders in advance")
    func items() throws {
        let all = try new(
            """
            {"purchaseStateContext":{"purchaseState":"PURCHASED"},"purchaseCompletionTime":"2026-01-01T00:00:00.5Z",
             "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED","testPurchaseContext":{"fopType":"TEST"},
             "orderId":"GPA.1","obfuscatedExternalAccountId":"a","regionCode":"FR","productLineItem":[
              {"productId":"coins","productOfferDetails":{"purchaseOptionId":"buy","offerId":"o","quantity":5,
                "refundableQuantity":3,"consumptionState":"CONSUMPTION_STATE_CONSUMED"}},
              {"productId":"film","productOfferDetails":{"rentOfferDetails":{}}},
              {"productId":"sequel","productOfferDetails":{"preorderOfferDetails":{"preorderReleaseTime":"2030-01-01T00:00:00Z"}}},
              {"productId":"bare"}]}
            """)
        #expect(all.purchasedAt?.text == "2026-01-01T00:00:00.500Z")
        #expect(all.isAcknowledged && all.isTest && all.order == "GPA.1" && all.region == "FR")
        #expect(all.accounts == PlayAccounts(account: "a"))
        #expect(all.items.map(\.quantity) == [5, 1, 1, 1])
        #expect(all.items.map(\.refundableQuantity) == [3, nil, nil, nil])
        #expect(all.items.map(\.isConsumed) == [true, false, false, false])
        #expect(all.items.map(\.isRented) == [false, true, false, false])
        #expect(all.items.map(\.isOrderedInAdvance) == [false, false, true, false])
        #expect(all.items[2].releasedAt?.text == "2030-01-01T00:00:00.000Z")
        #expect(all.items[0].option == "buy" && all.items[0].offer == "o")
    }

    @Test("The first form has numbers, and a time even of what is not paid")
    func numbers() throws {
        let paid = try old(
            """
            {"purchaseTimeMillis":"1767225600000","purchaseState":0,"consumptionState":1,"acknowledgementState":1,
             "purchaseType":0,"quantity":"4","refundableQuantity":4,"orderId":"GPA.2","obfuscatedExternalProfileId":"p"}
            """)
        #expect(paid.purchasedAt?.text == "2026-01-01T00:00:00.000Z")
        #expect(paid.isAcknowledged && paid.isTest && paid.order == "GPA.2")
        #expect(paid.items.map(\.product) == ["coins"])
        #expect(paid.items[0].quantity == 4 && paid.items[0].isConsumed)
        #expect(paid.accounts == PlayAccounts(profile: "p"))
        let open = try old(#"{"purchaseTimeMillis":"1767225600000","purchaseState":2}"#)
        #expect(open.purchasedAt == nil && !open.isTest && open.order == nil)
        // A promotion does not count as a test purchase.
        #expect(try old(#"{"purchaseType":1}"#).isTest == false)
        #expect(try old(#"{"productId":"gems"}"#).items.map(\.product) == ["gems"])
    }

    @Test("A member of a wrong type is named by its path")
    func refused() throws {
        let rows: [(String, String)] = [
            (#"{"productLineItem":[{"productId":7}]}"#, "productLineItem[0].productId"),
            (
                #"{"productLineItem":[{"productId":"p","productOfferDetails":{"quantity":"many"}}]}"#,
                "productLineItem[0].productOfferDetails.quantity"
            ),
            (
                #"{"productLineItem":[{"productId":"p","productOfferDetails":{"quantity":0}}]}"#,
                "quantity"
            ),
            (#"{"purchaseCompletionTime":5}"#, "purchaseCompletionTime"),
        ]
        for (text, words) in rows {
            let error = #expect(throws: EvidenceRefusal.self) { try new(text) }
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        }
        #expect(throws: EvidenceRefusal.self) { try old(#"{"purchaseState":"none"}"#) }
        #expect(throws: EvidenceRefusal.self) { try old(#"{"purchaseTimeMillis":"-5"}"#) }
    }
}
