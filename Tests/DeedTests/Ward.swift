import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// A working installation in which the doctor's tests break things.
final class Ward: Sendable {
    let deed: Installation
    private let folder: ScratchFolder

    /// A `PATH` on which a shell finds the built program.
    static var path: String {
        let programs = URL(fileURLWithPath: Installation.program).deletingLastPathComponent().path
        return "PATH='\(programs)':$PATH; "
    }

    var key: String { "\(deed.dataFolder)/secret.key" }

    init() throws {
        folder = try ScratchFolder()
        deed = try Installation()
        let files = [
            "catalog.json":
                #"{"products":[{"id":"pro.month","kind":"auto_renewable","group":"pro","level":1,"entitlements":["pro"]}]}"#,
            "credentials.sh":
                "deed app set --bundle-id com.example.game --issuer-id 57246542-96fe-1a63-e053-0824d011072a "
                + "--key-id 2X9R4HXF34 --key-file store.p8\n",
            "tls.sh":
                "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost "
                + "-days $1 -out tls.pem -keyout tls.key 2>/dev/null; chmod 644 tls.key\n",
        ]
        for (name, text) in files { _ = try folder.write(text, to: name) }
        let steps = """
            set -e
            sh tls.sh 365
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out store.p8 2>/dev/null
            deed migrate
            deed project create default
            deed key create --role backend
            deed catalog apply catalog.json
            deed app set --bundle-id com.example.game
            sh credentials.sh
            """
        let made = try run(steps)
        try #require(made.code == 0, "\(made.errors)")
        // This ailment needs a running PostgreSQL.
        let heard =
            "insert into deed.last_done values ('news default apple com.example.game', 1, '{}')"
        let service = try deed.serve()
        let noted = try run("sql \"\(heard)\"")
        try #require(noted.code == 0, "\(noted.errors)")
        service.process.signal(SIGTERM)
        _ = service.process.wait(milliseconds: 60_000)
    }

    /// Breaks the installation, expects the finding, follows the advice, and expects a clean run, all in one shell.
    func treat(_ ailment: Ailment) throws {
        let settings = ailment.variables.map { "export \($0.key)='\($0.value)'; " }.joined()
        let doctor = "deed doctor --json >found.json 2>errors.txt"
        let broken = try run("\(settings)\(ailment.breaking)\n\(doctor); echo doctor $?")
        #expect(broken.output.contains("doctor "), "\(ailment.code): \(broken.errors)")
        let found = try findings(ailment)
        guard let own = found.first(where: { $0.code == ailment.code }) else {
            Issue.record("\(ailment.code) is not named: \(found.map(\.code)) \(broken.errors)")
            return
        }
        #expect(ailment.treatment != nil || !own.commands.isEmpty, "\(ailment.code)")
        let advice = own.commands.map { command in
            command.place == "sql" ? "sql_line \(quoted(command.text))" : command.text
        }.joined(separator: "\n")
        let isOfShell = ["DEED_DATABASE_URL", "ulimit"].contains { ailment.breaking.contains($0) }
        let before = isOfShell ? ailment.breaking : ""
        let treated = try run(
            "\(settings)\(before)\n\(ailment.treatment ?? advice)\nsql_end\n\(doctor); echo doctor $?"
        )
        // The advice is to forget the credentials, which leads to another finding.
        let allowed: Set = ["app_without_credentials", "credentials_locked"]
        var left = try findings(ailment).map(\.code)
        // An instance's last report may be up to five seconds old.
        _ = try eventually(within: 15_000) {
            if Set(left).subtracting(allowed) != ["instance_not_ready"] { return true }
            _ = try run("\(settings)\(before)\n\(doctor)")
            left = try findings(ailment).map(\.code)
            return false
        }
        #expect(
            !left.contains(ailment.code),
            "\(ailment.code) is still there after \(advice): \(treated.errors) \(treated.output)")
        #expect(Set(left).subtracting(allowed).isEmpty, "\(ailment.code) left \(left)")
    }

    private func findings(_ ailment: Ailment) throws -> [Finished.Found] {
        let text = try String(contentsOfFile: folder.file("found.json"), encoding: .utf8)
        return try Finished(code: 0, output: text, errors: ailment.code).findings
    }

    private func quoted(_ text: String) -> String {
        "'\(text.replacing("'", with: "'\\''"))'"
    }

    /// Runs lines in the ward's folder. All SQL of one piece of advice runs in one session.
    private func run(_ lines: String) throws -> Finished {
        let url = deed.databaseURL
        let version = try deed.run("--version").output.split(whereSeparator: \.isWhitespace)[1]
        let helpers = """
            cd '\(folder.path)'; \(Ward.path)
            export DEED_DATA_DIR='\(deed.dataFolder)'; KEY='\(key)'; VERSION='\(version)'
            sql() { for s in "$@"; do psql -qX -v ON_ERROR_STOP=1 -c "$s" '\(url)' >/dev/null || return 1; done; }
            sql_line() { printf '%s;\\n' "$1" >>advice.sql; }
            sql_end() { [ ! -s advice.sql ] || psql -qX -v ON_ERROR_STOP=1 -f advice.sql '\(url)' >/dev/null; rm -f advice.sql; }

            """
        let shell = try Shell(helpers + lines, [:])
        return Finished(code: shell.code ?? -1, output: shell.output, errors: shell.errors)
    }
}
