import Core
import Crypto
import Minting

@testable import Evidence

extension AppID {
    static let example: AppID = {
        do { return try AppID(Payload.bundleID) } catch { preconditionFailure("\(error)") }
    }()
}

extension Verifier {
    /// Trusts the minted roots as it would the pinned ones.
    static let trusting: Verifier = trusting(.pinned)

    /// Trusts the minted roots as an operator's extra ones.
    static let trustingExtra: Verifier = trusting(.extra)

    private static func trusting(_ origin: TrustAnchor.Origin) -> Verifier {
        let roots = [MintedChain.receipts.root, MintedChain.transactions.root]
        return Verifier(
            anchors: roots.compactMap { try? Certificate(der: $0.der) }
                .map { TrustAnchor($0, origin) })
    }
}

extension Terms {
    /// The minted app in both environments, three years after the evidence was signed and two after
    /// its certificate ran out.
    static let usual = Terms(
        apps: [
            TrustedApp(
                id: .example, appleID: 1_234_567_890, environments: [.production, .sandbox])
        ], now: Instant(milliseconds: 1_780_000_000_000), rank: .clientTransaction)
}

/// Verifies and gives the refusal; `nil` when the evidence was believed.
func refusal(
    of bytes: [UInt8], as kind: EvidenceKind, by verifier: Verifier = .trusting,
    on terms: Terms = .usual
) -> EvidenceRefusal? {
    do throws(EvidenceRefusal) {
        _ = try verifier.verify(bytes, as: kind, on: terms)
        return nil
    } catch {
        return error
    }
}

func instant(_ text: String) -> Instant? { Instant(text: text) }
