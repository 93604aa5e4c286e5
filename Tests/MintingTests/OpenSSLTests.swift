import Foundation
import TestSupport
import Testing

@testable import Minting

/// Expects OpenSSL's own program to accept the tests' minted evidence as genuine.
@Suite("Minted evidence, as openssl sees it")
struct OpenSSLTests {
    private func openssl(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }

    private func pem(_ certificate: MintedCertificate) -> String {
        let lines = Data(certificate.der).base64EncodedString(options: .lineLength64Characters)
        return "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
    }

    private let day = String(1_700_000_000)

    @Test("A chain leads from its leaf to its root", arguments: [true, false])
    func chain(_ isOfReceipts: Bool) throws {
        let chain: MintedChain = isOfReceipts ? .receipts : .transactions
        let folder = try ScratchFolder()
        let root = try folder.write(pem(chain.root), to: "root.pem")
        let middle = try folder.write(pem(chain.intermediate), to: "middle.pem")
        let leaf = try folder.write(pem(chain.leaf), to: "leaf.pem")
        let known = ["verify", "-attime", day, "-CAfile", root]
        #expect(try openssl(known + ["-untrusted", middle, leaf]).status == 0)
        #expect(try openssl(known + [leaf]).status != 0)
    }

    @Test("A receipt is signed data with a valid signature, until one octet of it is changed")
    func receipt() throws {
        let chain = MintedChain.receipts
        let folder = try ScratchFolder()
        let root = try folder.write(pem(chain.root), to: "root.pem")
        var bytes = ReceiptPlan(chain: chain).bytes
        let path = folder.file("receipt")
        func verified() throws -> Int32 {
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let out = folder.file("content")
            return try openssl([
                "cms", "-verify", "-binary", "-inform", "DER", "-in", path, "-CAfile", root,
                "-attime", day, "-purpose", "any", "-out", out,
            ]).status
        }
        #expect(try verified() == 0)
        bytes[bytes.count - 1] ^= 1
        #expect(try verified() != 0)
    }
}
