package import Core
internal import Crypto
internal import Evidence
internal import JSON
internal import Outbound
internal import StoreAccess
internal import Wording

/// Has Apple judge legacy receipts. Apple's reply is not signed. Deed trusts it only here, where
/// Deed itself has fetched it over an authenticated connection.
extension AppStoreClient {
    /// The status that Apple uses both for malformed receipts and for temporary faults.
    private static let malformedOrFault: Int64 = 21_002
    /// After this many tries, the pauses between tries are half an hour long.
    private static let sureAfterTries: Int64 = 6
    private static let wrongSecret: Int64 = 21_004

    package func judge(
        _ inquiry: StoreInquiry
    ) -> Judgement<ProvenEvidence, Postponement> {
        do throws(StoreTrouble) {
            let credentials = try line.credentials(of: inquiry.storeApp)
            guard let secret = credentials.secrets[AppStoreProfile.sharedSecret] else {
                throw .noSharedSecret(of: inquiry.app.key.id)
            }
            let hosts = credentials.address.map(StoreHosts.init) ?? hosts
            return try judge(inquiry, secret, hosts)
        } catch {
            // Genuine evidence must not be refused because of a faulty store or a wrong setting.
            let reason = IntakeReason(error)
            if case .limited(let until) = error { return .tryAgain(reason, after: until) }
            return .tryAgain(reason)
        }
    }

    private func judge(
        _ inquiry: StoreInquiry, _ secret: String, _ hosts: StoreHosts
    ) throws(StoreTrouble) -> Judgement<ProvenEvidence, Postponement> {
        var environment = inquiry.environment
        if hosts.receipts[environment] == nil { environment = hosts.order[0] }
        var asked: Set<Environment> = []
        while asked.insert(environment).inserted, let host = hosts.receipts[environment] {
            let reply = try fetch(inquiry, secret, from: host, environment)
            let status: (number: Int64, verdict: ReplyVerdict)
            do throws(RefusedEvidence) {
                status = try reply.status()
            } catch {
                if (try? JSON.read(reply.body)) == nil { throw .notFromStore }
                throw .unreadable(error.sentence)
            }
            if case .otherEnvironment(let other) = status.verdict {
                environment = other
                continue
            }
            return verdict(on: reply, status, inquiry)
        }
        throw .foreign("each environment's host refers the receipt to the other environment")
    }

    private func verdict(
        on reply: FetchedAnswer, _ status: (number: Int64, verdict: ReplyVerdict),
        _ inquiry: StoreInquiry
    ) -> Judgement<ProvenEvidence, Postponement> {
        do throws(RefusedEvidence) {
            return .believed(
                try prover.prove(reply, for: [inquiry.app.trusted], now: inquiry.now))
        } catch {
            if status.number == AppStoreClient.wrongSecret { return .tryAgain(.wrongSecret) }
            let reason = IntakeReason(error)
            // Every failed try counts. An ambiguous refusal is final only if several tries repeat it.
            let isSaidAgain =
                inquiry.tries >= AppStoreClient.sureAfterTries && inquiry.formerReason == reason
            let isVerdict =
                switch status.verdict {
                case .refused: true
                case .tryLater: isSaidAgain && status.number == AppStoreClient.malformedOrFault
                // Apple has confirmed the receipt, so an unreadable reply may mean that the store is faulty.
                case .valid: isSaidAgain && error.cure == .settingTheApp
                case .otherEnvironment: false
                }
            return isVerdict ? .refused(error) : .tryAgain(reason)
        }
    }

    private func fetch(
        _ inquiry: StoreInquiry, _ secret: String, from host: String, _ environment: Environment
    ) throws(StoreTrouble) -> FetchedAnswer {
        // The receipt may already be in base64.
        let bare = (try? prover.bare(inquiry.evidence)) ?? inquiry.evidence
        let receipt = String(decoding: Base64.standard.encode(bare.bytes), as: UTF8.self)
        let body: JSON = [
            "receipt-data": .string(receipt), "password": .string(secret),
            "exclude-old-transactions": false,
        ]
        let request = OutboundRequest(
            "POST", host, headers: [("Content-Type", "application/json")], body: body.bytes)
        let turn = StoreTurn(
            inquiry.storeApp, in: environment, under: .receipts(in: environment))
        let response = try line.answer(to: request, turn, patience)
        if response.status == 200 {
            return FetchedAnswer(.verifyReceiptReply, body: response.body, host: environment)
        }
        throw .unavailable("it answered \(response.status)")
    }
}

extension StoreTrouble {
    fileprivate static func noSharedSecret(of app: AppID) -> StoreTrouble {
        .unconfigured(
            "Only the store can judge this receipt, but Deed has no shared secret for \(app). Set "
                + "one with: deed app set --bundle-id \(app) --shared-secret-file … Or judge "
                + "receipts by their signature: deed app set --receipts local")
    }
}

extension IntakeReason {
    fileprivate static let wrongSecret = IntakeReason(
        code: "store_secret_wrong",
        sentence: "The store rejects the shared secret; set the right one with: deed app set "
            + "--shared-secret-file …")
}
