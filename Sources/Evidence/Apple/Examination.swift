package import Core
internal import Crypto
internal import JSON

/// One check and its result.
package struct Check: Hashable, Sendable {
    package enum Name: String, Sendable {
        case format
        case status
        case chain
        case signature
        case contents
        case inside
        case latestReceipt = "latest_receipt"
        case digest
        case signingTime = "signing_time"
        case validity
        case bundleID = "bundle_id"
        case environment
        case version
        case device
        case licence
    }
    package let name: Name
    /// `nil` if the check was skipped.
    package let passed: Bool?
    package let detail: String
}

/// A person's question about a piece of evidence. Answering it requires no configured app.
package struct EvidenceQuestion: Sendable {
    package var now: Instant
    package var bundleID: AppID?
    package var device: DeviceID?
    package var appVersion: String?

    package init(now: Instant) {
        self.now = now
    }
}

/// The result of examining evidence for a person: the evidence's statement, and all checks by name.
package struct Examination: Sendable {
    package let kind: EvidenceKind?
    /// The statement in the readable part of the evidence, proven or not.
    package let statement: StoreStatement<Unverified>?
    package let refusal: EvidenceRefusal?
    package let checks: [Check]

    package var isBelieved: Bool { refusal == nil }
}

extension Verifier {
    /// Verifies `bytes` exactly as a server would, and reports the result of each check. If the question has no bundle
    /// id, the app that the evidence names is accepted.
    package func examine(_ bytes: [UInt8], _ question: EvidenceQuestion) -> Examination {
        guard bytes.count <= RawEvidence.byteLimit, let kind = EvidenceKind.detect(bytes) else {
            let refusal: EvidenceRefusal =
                bytes.count > RawEvidence.byteLimit
                ? .tooLarge(limit: RawEvidence.byteLimit) : .unrecognized
            let check = Check(name: .format, passed: false, detail: refusal.description)
            return Examination(kind: nil, statement: nil, refusal: refusal, checks: [check])
        }
        let statement =
            kind.store == .google
            ? try? PlayEvidence.read(bytes, as: kind, rank: .serverAPI, companion: nil)
            : try? Verifier.read(bytes, as: kind)
        var proven: StoreStatement<Verified>?
        var refusal: EvidenceRefusal?
        do throws(EvidenceRefusal) {
            let terms = question.terms(statement)
            if kind == .verifyReceiptReply { try examineReply(bytes, on: terms) }
            proven =
                kind.store == .google
                ? try PlayEvidence().verify(bytes, as: kind, on: terms)
                : try verify(bytes, as: kind, on: terms)
        } catch {
            refusal = error
        }
        let report = CheckReport(
            kind: kind, question: question, statement: statement, proven: proven, refusal: refusal)
        return Examination(
            kind: kind, statement: statement, refusal: refusal, checks: report.checks)
    }

    /// Throws if there is a more specific reason to refuse the reply than that it comes from a
    /// file. In the end, every reply from a file is refused.
    private func examineReply(_ bytes: [UInt8], on terms: Terms) throws(EvidenceRefusal) {
        let reply = try VerifyReceiptReply(bytes)
        try reply.requireValid()
        try terms.requireApp(reply.statement(rank: .verifyReceiptReply))
        guard let receipt = try reply.latestReceipt() else { return }
        do throws(EvidenceRefusal) {
            _ = try verifyReceipt(receipt, on: terms)
        } catch {
            throw .inside(.appReceipt, error)
        }
    }
}

extension EvidenceQuestion {
    fileprivate func terms(_ statement: StoreStatement<Unverified>?) -> Terms {
        let ids = [bundleID ?? statement?.app].compactMap(\.self)
        var terms = Terms(
            apps: ids.map { TrustedApp(id: $0, appleID: nil) }, now: now, rank: .clientTransaction)
        terms.device = device
        terms.appVersion = appVersion
        return terms
    }
}

/// Presents the outcome of a verification as a list of checks in the order in which they run. The first check that
/// fails ends the verification.
private struct CheckReport {
    let kind: EvidenceKind
    let question: EvidenceQuestion
    let statement: StoreStatement<Unverified>?
    let proven: StoreStatement<Verified>?
    let refusal: EvidenceRefusal?

    var checks: [Check] {
        // In a verifyReceipt reply, the only statement inside is the latest receipt.
        let failed = refusal.map {
            $0.check == .inside && kind == .verifyReceiptReply ? .latestReceipt : $0.check
        }
        var isPast = false
        return kind.checks.map { name in
            if name == failed {
                isPast = true
                return Check(name: name, passed: false, detail: refusal?.description ?? "")
            }
            if isPast {
                return Check(
                    name: name, passed: nil, detail: "skipped because an earlier check failed")
            }
            if let reason = reasonNotMade(name) {
                return Check(name: name, passed: nil, detail: "not made: \(reason)")
            }
            return Check(name: name, passed: true, detail: detail(name))
        }
    }

    private func reasonNotMade(_ name: Check.Name) -> String? {
        switch name {
        case .bundleID where statement?.app == nil: "renewal info names no app"
        case .bundleID where question.bundleID == nil: "no bundle id was given"
        case .version where question.appVersion == nil: "no version was given"
        case .device where question.device == nil: "no device id was given"
        case .device where statement?.namesDevice == false: "the evidence names no device"
        case .licence where statement?.contents.licenceEnds == nil: "the licence has no end date"
        case .latestReceipt where statement?.holdsReceipt == false: "the reply contains no receipt"
        default: nil
        }
    }

    private func detail(_ name: Check.Name) -> String {
        switch name {
        case .chain: proven?.signedBy.joined(separator: " < ") ?? "it ends at a trusted root"
        case .signingTime, .validity: statement?.signedAt.text ?? ""
        case .bundleID: statement?.app?.text ?? ""
        case .environment: statement?.environmentName ?? ""
        case .version: statement?.appVersion ?? ""
        case .licence: statement?.contents.licenceEnds?.text ?? ""
        case .inside where statement?.unread.isEmpty == false:
            "in a form that this release cannot read: "
                + (statement?.unread.map(\.word).joined(separator: ", ") ?? "")
        case .contents: "\(statement?.purchases.count ?? 0) purchases"
        default: "as it should be"
        }
    }
}

extension StoreStatement {
    /// Whether the evidence contains anything that a device id can be compared with.
    fileprivate var namesDevice: Bool {
        kind == .appReceipt || contents.members?["deviceVerification"] != nil
    }

    fileprivate var holdsReceipt: Bool { contents.members?["latest_receipt"] != nil }
}

extension EvidenceKind {
    /// The checks for this kind of evidence, in order.
    fileprivate var checks: [Check.Name] {
        let proof: [Check.Name] = [.format, .chain, .signature, .contents]
        let terms: [Check.Name] = [.signingTime, .validity, .bundleID, .environment]
        return switch self {
        case .appReceipt: proof + [.digest] + terms + [.version, .device, .licence]
        case .signedTransaction, .appTransaction: proof + terms + [.device]
        case .renewalInfo: proof + terms
        case .notification: proof + [.inside] + terms
        case .playToken, .playSubscription, .playPurchase, .playProduct:
            [.format, .contents, .bundleID, .environment, .signature]
        default:
            [.format, .status, .contents, .bundleID, .latestReceipt, .signature]
        }
    }
}
