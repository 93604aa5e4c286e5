package import Core
internal import Evidence
internal import JSON
package import Threading
import Wording

/// Asks Google about tokens submitted by back ends.
extension PlayStoreClient {
    /// Judges the purchase with a token, and the earlier purchases that it continues. If
    /// `milliseconds` is given, takes no longer than that.
    package func judging(
        _ inquiry: StoreInquiry, within milliseconds: Int64?
    ) -> Course<Judgement<[ProvenEvidence], Postponement>> {
        guard let key = PlayTokenKey(inquiry) else { return .ended(.refused(.unreadableToken)) }
        let time = PlayTime(patience, within: milliseconds ?? PlayStoreClient.queuePatience)
        return chain(key, time).map { answer in
            switch answer {
            case .success(let chain): verdict(on: chain, inquiry)
            case .failure(let trouble): PlayStoreClient.verdict(on: trouble)
            }
        }
    }

    /// How long the queue waits for all answers about a token, in milliseconds. It is well below an item's lease.
    private static let queuePatience: Int64 = 60_000

    private static func verdict(
        on trouble: StoreTrouble
    ) -> Judgement<[ProvenEvidence], Postponement> {
        if trouble.meaning == .purchaseUnknown { return .refused(.unknownToken) }
        // Genuine purchases must not be refused because of a faulty store or a wrong setting.
        let reason = IntakeReason(trouble)
        if case .limited(let until) = trouble { return .tryAgain(reason, after: until) }
        return .tryAgain(reason)
    }

    private func verdict(
        on chain: PlayChain, _ inquiry: StoreInquiry
    ) -> Judgement<[ProvenEvidence], Postponement> {
        if chain.standing == .pending { return .waits(.unpaid) }
        // After an abandoned change, the earlier purchase remains in effect.
        if chain.standing == .cancelledUnpaid, chain.links.count == 1 {
            return .refused(.cancelledUnpaid)
        }
        do throws(RefusedEvidence) {
            return .believed(try prove(chain, of: inquiry.app.trusted, now: inquiry.now))
        } catch {
            // Google confirms the purchase. If this release cannot read the answer, a later release may be able to.
            return .tryAgain(IntakeReason(error))
        }
    }
}

extension PlayTokenKey {
    fileprivate init?(_ inquiry: StoreInquiry) {
        let json = try? JSON.read(inquiry.evidence.bytes)
        guard let token = json?["token"]?.string else { return nil }
        app = inquiry.storeApp
        self.token = token
        product = json?["product"]?.string.flatMap { try? ProductID($0) }
        kind = product.flatMap {
            inquiry.catalog.product(ProductKey(store: inquiry.app.key.store, id: $0))?.kind
        }
    }
}

extension RefusedEvidence {
    fileprivate static let unreadableToken = RefusedEvidence(
        code: "unrecognized",
        sentence: "The evidence is not a purchase token in the form that back ends submit.")

    fileprivate static let unknownToken = RefusedEvidence(
        code: "token_unknown",
        sentence:
            "Google does not know a purchase in this app with this token. Google forgets "
            + "subscriptions sixty days after they end. Send the token as the app got it, with the "
            + "package in which the purchase was made.")

    fileprivate static let cancelledUnpaid = RefusedEvidence(
        code: "purchase_cancelled",
        sentence: "The purchase was cancelled before it was paid for: nothing was bought.")
}

extension IntakeReason {
    fileprivate static let unpaid = IntakeReason(
        code: "purchase_pending",
        sentence:
            "The purchase is not paid for yet; Deed will ask again until it is paid for or cancelled."
    )
}
