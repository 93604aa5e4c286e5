import Core
import Crypto
import Evidence
import Glibc
import JSON
import Minting

/// Measures verification on a single thread with a cached chain, compared with OpenSSL's own speed
/// for the same kind of signature. The rounds alternate, and the best round of each counts.
func benchVerify(json: Bool) -> Int32 {
    guard let bench = VerifyBench() else {
        complain("deed-bench verify: the minted roots cannot be read")
        return 3
    }
    var best: [String: Double] = [:]
    func keep(_ name: String, _ rate: Double?) {
        if let rate { best[name] = max(best[name] ?? 0, rate) }
    }
    // Many short rounds ensure that other work slows down both sides equally.
    for _ in 0..<8 {
        keep("ecdsap256", openSSLVerifications("ecdsap256", pattern: "(nistp256)"))
        keep("verify.jws", bench.rate(bench.transaction, .signedTransaction))
        keep("rsa2048", openSSLVerifications("rsa2048", pattern: "rsa 2048"))
        keep("verify.receipt", bench.rate(bench.receipt, .appReceipt))
        keep("verify.receipt187", bench.rate(bench.largeReceipt, .appReceipt))
    }
    guard let curve = best["ecdsap256"], let rsa = best["rsa2048"] else {
        complain("deed-bench verify: `openssl speed` gave no figures; is openssl installed?")
        return 3
    }
    let lines = [
        VerifyFigure("verify.jws", best["verify.jws"], baseline: curve, bar: 0.85),
        VerifyFigure("verify.receipt", best["verify.receipt"], baseline: rsa, bar: 0.15),
        VerifyFigure("verify.receipt187", best["verify.receipt187"], baseline: 1000, bar: 1),
    ]
    print(json ? JSON.array(lines.map(\.json)).text : lines.map(\.text).joined(separator: "\n"))
    return lines.allSatisfy(\.isMet) ? 0 : 1
}

private struct VerifyBench {
    let transaction: [UInt8]
    let receipt: [UInt8]
    let largeReceipt: [UInt8]
    private let verifier: Verifier
    private let terms: Terms

    init?() {
        let minted = [MintedChain.receipts.root, MintedChain.transactions.root]
        let roots = minted.compactMap { try? Certificate(der: $0.der) }
        guard roots.count == 2, let app = try? AppID(Payload.bundleID) else { return nil }
        verifier = Verifier(extraRoots: roots)
        terms = Terms(
            apps: [TrustedApp(id: app, appleID: nil, environments: [.sandbox])],
            now: Payload.signedAt, rank: .clientTransaction)
        transaction = Array(Payload.transaction.signed().utf8)
        var plan = ReceiptPlan()
        receipt = plan.bytes
        plan.attributes = .receipt(
            purchases: (0..<187).map { .purchase(transaction: "\(1_000_000_000_000_000 + $0)") })
        largeReceipt = plan.bytes
    }

    /// Returns the number of verifications per second of this thread's CPU time, including
    /// decoding. `openssl speed` also measures CPU time, so other work on the machine affects
    /// neither figure.
    func rate(_ bytes: [UInt8], _ kind: EvidenceKind) -> Double? {
        guard (try? verifier.verify(bytes, as: kind, on: terms)) != nil else { return nil }
        let start = threadMicroseconds()
        var count = 0
        var elapsed: Int64 = 0
        while elapsed < 700_000 {
            for _ in 0..<50 {
                guard let statement = try? verifier.verify(bytes, as: kind, on: terms),
                    !statement.facts.transactions.isEmpty
                else { return nil }
            }
            count += 50
            elapsed = threadMicroseconds() - start
        }
        return Double(count) * 1_000_000 / Double(elapsed)
    }
}

private func threadMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}

private struct VerifyFigure {
    let name: String
    let value: Double
    let baseline: Double
    let bar: Double

    init(_ name: String, _ value: Double?, baseline: Double, bar: Double) {
        self.name = name
        self.value = value ?? 0
        self.baseline = baseline
        self.bar = bar
    }

    var ratio: Double { value / baseline }
    var isMet: Bool { ratio >= bar }

    var json: JSON {
        [
            "name": .string(name), "value": .decimal(rounded(value, 0)), "unit": "1/s",
            "baseline": .decimal(rounded(baseline, 0)), "ratio": .decimal(rounded(ratio, 3)),
            "bar": .decimal(rounded(bar, 2)), "met": .bool(isMet),
        ]
    }

    var text: String {
        "\(name)  \(rounded(value, 0))/s  beside \(rounded(baseline, 0))/s  "
            + "ratio \(rounded(ratio, 3)), bar \(rounded(bar, 2)): \(isMet ? "met" : "missed")"
    }

    private func rounded(_ value: Double, _ digits: Int) -> String {
        var text = [CChar](repeating: 0, count: 40)
        withVaList([Int32(digits), value]) { _ = vsnprintf(&text, text.count, "%.*f", $0) }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// Returns the number of verifications per second measured by `openssl speed`.
private func openSSLVerifications(_ algorithm: String, pattern: String) -> Double? {
    guard let pipe = popen("openssl speed -seconds 1 \(algorithm) 2>/dev/null", "r") else {
        return nil
    }
    defer { pclose(pipe) }
    var line = [CChar](repeating: 0, count: 512)
    var found: Double?
    while fgets(&line, Int32(line.count), pipe) != nil {
        let text = String(
            decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        if text.contains(pattern), let last = text.split(whereSeparator: \.isWhitespace).last {
            found = Double(last)
        }
    }
    return found
}
