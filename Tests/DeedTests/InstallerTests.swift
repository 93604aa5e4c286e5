import Foundation
import Glibc
import TestSupport
import Testing

extension ProgramTests {
    @Suite("The tar file and its installer", .timeLimit(.minutes(20)))
    struct Installer {
        private let folder: ReleaseFolder

        init() throws { folder = try ReleaseFolder() }

        @Test("It installs what it came with, and removes exactly what it made")
        func installed() throws {
            let prefix = folder.file("prefix")
            let before = folder.file("prefix/share/man/man1/other.1")
            try folder.run("mkdir -p \(prefix)/share/man/man1 && touch \(before)")
            let installed = try folder.run("./install.sh --prefix \(prefix)")
            #expect(installed.code == 0, "\(installed.errors)")
            #expect(try folder.run("cmp bin/deed \(prefix)/bin/deed").code == 0)
            // The second installation is an upgrade. The list of installed files keeps the earlier ones.
            #expect(try folder.run("./install.sh --prefix \(prefix)").code == 0)
            try folder.run("touch \(prefix)/bin/mine")
            let removed = try folder.run("./install.sh --remove --prefix \(prefix)")
            #expect(removed.code == 0, "\(removed.errors)")
            #expect(removed.output.contains("Its data stays where it was"))
            let left = try folder.run("cd \(prefix) && find . -type f | sort")
            #expect(left.output == "./bin/mine\n./share/man/man1/other.1\n", "\(left.output)")
            #expect(try folder.run("cd \(prefix) && ls").output == "bin\nshare\n")
            let again = try folder.run("./install.sh --remove --prefix \(prefix)")
            #expect(again.code == 1 && again.errors.contains("nothing was installed"))
        }

        @Test("A prefix that it made is removed, too")
        func madePrefix() throws {
            let prefix = folder.file("new/prefix")
            #expect(try folder.run("./install.sh --prefix \(prefix)").code == 0)
            #expect(try folder.run("./install.sh --remove --prefix \(prefix)").code == 0)
            #expect(!FileManager.default.fileExists(atPath: prefix))
        }

        @Test(
            "It refuses before it copies anything",
            arguments: [
                ("printf x >>bin/deed", "bin/deed: FAILED"),
                ("printf x >>share/man/man1/deed.1.gz", "differs from its digest"),
                ("rm bin/deed-practice", "differs from its digest"),
                ("printf '\\n' >>SHA256SUMS", "not signed by the expected key"),
                ("rm SHA256SUMS.sig", "this release is not signed"),
                (
                    "openssl genpkey -algorithm ed25519 -out ../k && openssl pkeyutl -sign -rawin -inkey ../k "
                        + "-in SHA256SUMS -out SHA256SUMS.sig", "not signed by the expected key"
                ),
            ])
        func refused(change: String, sentence: String) throws {
            try folder.run(change)
            try expectRefusal("./install.sh", sentence)
        }

        @Test("A key from elsewhere counts, and not the one in the release")
        func ownKey() throws {
            try folder.run(
                "openssl genpkey -algorithm ed25519 -out ../k && openssl pkey -in ../k -pubout -out ../p"
            )
            try expectRefusal("./install.sh --key ../p", "not signed by the expected key")
            let prefix = folder.file("prefix")
            let right = try folder.run("./install.sh --key ../release.pem --prefix \(prefix)")
            #expect(right.code == 0, "\(right.errors)")
        }

        @Test("A missing system library is named")
        func library() throws {
            // The digests and the signature are right, but the program needs a library that is missing.
            try folder.run(
                """
                sed -i 's/libc\\.so\\.6/libz.so.9/g' bin/deed
                sed -i "s|^[0-9a-f]*  bin/deed$|$(sha256sum bin/deed)|" SHA256SUMS
                openssl pkeyutl -sign -rawin -inkey ../release.key -in SHA256SUMS -out SHA256SUMS.sig
                """)
            try expectRefusal("./install.sh", "this system lacks: libz.so.9")
        }

        private func expectRefusal(_ command: String, _ sentence: String) throws {
            let prefix = folder.file("prefix")
            let refused = try folder.run("\(command) --prefix \(prefix)")
            #expect(refused.code == 1, "\(refused.output) \(refused.errors)")
            #expect(refused.errors.contains(sentence), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: prefix))
        }
    }
}

/// A signed and unpacked release, made in the same way as by `scripts/package`. Its programs do nothing.
private final class ReleaseFolder: Sendable {
    private let folder: ScratchFolder
    private let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL.path

    init() throws {
        folder = try ScratchFolder()
        let made = try Shell(
            """
            set -e; cd \(folder.path); mkdir programs
            cp /bin/true programs/deed; cp /bin/true programs/deed-practice
            openssl genpkey -algorithm ed25519 -out release.key
            openssl pkey -in release.key -pubout -out release.pem
            \(root)/scripts/package tar --version 9.9.9 --programs programs --out out --sign-key release.key
            mkdir release; tar xzf out/*.tar.gz -C release --strip-components 2
            """, [:])
        guard made.code == 0 else { throw Installation.Failed(description: made.errors) }
    }

    func file(_ name: String) -> String { folder.file(name) }

    /// Runs a shell line in the unpacked release.
    @discardableResult
    func run(_ line: String) throws -> Shell {
        try Shell("cd \(folder.path)/release && { \(line)\n}", [:])
    }
}
