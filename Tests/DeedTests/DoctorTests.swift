import Core
import Foundation
import Glibc
import JSON
import Minting
import TestSupport
import Testing

extension ProgramTests {
    /// Breaks everything that the doctor checks in a working installation, one thing at a time. The
    /// doctor reports it, the test follows the advice word for word, and the next run finds
    /// nothing.
    @Suite("The doctor", .serialized, .timeLimit(.minutes(20)))
    struct Doctor {
        @Test("On a healthy installation it finds nothing, and so does the status")
        func healthy() throws {
            let ward = try Ward()
            let service = try ward.deed.serve()
            defer { service.process.signal(SIGTERM) }
            let verdict = try ward.deed.run("doctor", "--json")
            #expect(verdict.code == 0, "\(verdict.errors)")
            #expect(try verdict.findings.map(\.code) == [], "\(verdict.output)")
            #expect((try verdict.json["checks"]?.array?.count ?? 0) > 45)
            #expect(try verdict.json["checks"]?.array?.allSatisfy { $0["state"] == "ok" } == true)
            let status = try ward.deed.run("status")
            #expect(status.code == 0, "\(status.errors) \(status.output)")
            #expect(status.output.split(separator: "\n").count <= 40)
        }

        @Test("Each broken thing is named, its advice helps, and the next run is clean")
        func brokenThings() throws {
            let ward = try Ward()
            // Keeps the private PostgreSQL running between the commands.
            let service = try ward.deed.serve()
            defer { service.process.signal(SIGTERM) }
            let cases = Ailment.ofDatabase + Ailment.ofProject + Ailment.ofFiles
            #expect(Set(cases.map(\.code)).count >= 30)
            for ailment in cases where !ailment.isOfRoot || getuid() == 0 {
                try ward.treat(ailment)
            }
        }

        @Test("A set-up that is not finished is diagnosed as far as it goes")
        func halfSetUp() throws {
            let deed = try Installation()
            let missing = try deed.run("doctor", "--json")
            #expect(try missing.findings.map(\.code) == ["database_missing"])
            #expect(missing.code == 1)
            let advice = try #require(try missing.findings.first?.commands.first?.text)
            let followed = try Shell(Ward.path + advice, ["DEED_DATA_DIR": deed.dataFolder])
            #expect(followed.code == 0, "\(followed.errors)")
            let done = try deed.run("doctor", "--json")
            #expect(try done.findings.map(\.code) == [], "\(done.output)")
        }

        @Test("Of a login it says which rights it lacks, and which it has too many")
        func logins() throws {
            let database = try ScratchDatabase(migrated: false)
            let name = "doctor_\(UInt32.random(in: 0...UInt32.max))"
            try database.run("create role \(name) login superuser")
            defer { try? database.run("drop owned by \(name); drop role \(name)") }
            let url = database.url.replacing("user=deed", with: "user=\(name)")
            let deed = try Installation(url: url)
            let early = try deed.run("doctor", "--json")
            #expect(try early.findings.map(\.code).contains("schema_missing"), "\(early.output)")
            #expect(try deed.run("migrate").code == 0)
            for code in ["login_superuser", "login_without_role", "data_folder_missing"] {
                let found = try deed.run("doctor", "--json").findings.filter { $0.code == code }
                #expect(found.count == 1, "\(code)")
                for advice in found.flatMap(\.commands) {
                    if advice.place == "sql" {
                        try database.run(advice.text)
                    } else {
                        #expect(try Shell(advice.text, [:]).code == 0)
                    }
                }
                let after = try deed.run("doctor", "--json").findings.map(\.code)
                #expect(!after.contains(code), "\(code): \(after)")
            }
        }

        @Test("It mends by itself what is harmless, and says so")
        func mending() throws {
            let ward = try Ward()
            chmod(ward.key, 0o644)
            let mended = try ward.deed.run("doctor", "--fix", "--json")
            #expect(mended.code == 0, "\(mended.errors)")
            #expect(try mended.json["mended"]?.array?.count == 1)
            let unknown = try ward.deed.run("doctor", "--only", "key_opn")
            #expect(unknown.code == 2 && unknown.errors.contains("did you mean key_open?"))
        }

        @Test("Its commands name the database and the folder that it was given")
        func places() throws {
            let database = try ScratchDatabase()
            let deed = try Installation(url: "postgresql://nowhere.invalid/deed")
            let place = [
                "--database-url", database.url, "--data-dir", "\(deed.dataFolder)/its own",
            ]
            let found = try deed.run(["doctor", "--json"] + place).findings
            let advice = try #require(found.first { $0.code == "no_project" }?.commands.first?.text)
            let followed = try Shell(Ward.path + advice, [:])
            #expect(followed.code == 0, "\(advice): \(followed.errors)")
            let left = try deed.run(["doctor", "--json"] + place).findings.map(\.code)
            #expect(!left.contains("no_project"), "\(left)")
        }

        @Test(
            "What stores send is noted: the first notification, and a product that no catalog knows"
        )
        func storeNews() throws {
            let evidence = try EvidenceFolder()
            let deed = try Installation(ScratchDatabase())
            try deed.sell(in: evidence)
            let key = try deed.makeKey()
            let service = try deed.serve("--extra-roots", "\(evidence.path)/roots")
            let before = try deed.run("doctor", "--json").findings.map(\.code)
            #expect(before.contains("app_without_notifications"))
            #expect(!before.contains("product_unknown"))
            let store = MintedStore(environment: "Sandbox")
            let sale = store.transaction(Sale("1", "ghost", .nonConsumable, at: Payload.signedAt))
            let calls = [
                (
                    "stores/apple/notifications",
                    store.notification("TEST", id: "n", at: Payload.signedAt)
                ),
                (
                    "customers/u1/receipts",
                    #"{"signed_transactions":["\#(sale)"],"environment":"sandbox"}"#
                ),
            ]
            var client = try APIClient(key: key)
            for (path, body) in calls {
                let answer = try client.send("POST", "\(service.url)/v1/\(path)", body: body)
                #expect(answer.status == 200, "\(answer.text)")
            }
            let isNoted = try eventually(within: 120_000) {
                let after = try deed.run("doctor", "--json").findings.map(\.code)
                return after.contains("product_unknown")
                    && !after.contains("app_without_notifications")
            }
            #expect(isNoted)
            // Admins get the same findings over the API. Deed counts them once a minute.
            let told = try JSON.read(client.send("GET", "\(service.url)/v1/status").text)
            let need = told["needs"]?.array?.first { $0["code"] == "product_unknown" }
            #expect(need?["wrong"] == true && need?["detail"]?.string?.contains("ghost") == true)
            let isCounted = try eventually(within: 240_000) {
                try client.send("GET", "\(service.url)/metrics").text
                    .contains("deed_needs{code=\"product_unknown\"} 1")
            }
            #expect(isCounted)
        }
    }
}

/// Something that can be wrong with an installation.
struct Ailment {
    let code: String
    /// Shell lines for the ward's folder. `sql` runs statements as the database's owner.
    let breaking: String
    /// The shell lines that a person runs if the advice has no commands.
    var treatment: String?
    /// Environment variables for the doctor's run.
    var variables: [String: String] = [:]
    var isOfRoot = false

    static let ofDatabase = [
        Ailment(
            code: "fsync_off",
            breaking: "sql 'alter system set fsync = off' 'select pg_reload_conf()'"),
        Ailment(
            code: "full_page_writes_off",
            breaking: "sql 'alter system set full_page_writes = off' 'select pg_reload_conf()'"),
        Ailment(
            code: "autovacuum_off",
            breaking: "sql 'alter system set autovacuum = off' 'select pg_reload_conf()'"),
        Ailment(
            code: "database_read_only",
            breaking: "sql 'alter database postgres set default_transaction_read_only = on'"),
        Ailment(code: "few_connections", breaking: "sql 'alter role deed connection limit 7'"),
        Ailment(
            code: "schema_differs", breaking: "sql 'revoke insert on deed.events from deed_service'"
        ),
        Ailment(
            code: "database_open", breaking: "sql 'grant connect on database postgres to public'"),
        Ailment(
            code: "schema_newer",
            breaking:
                "sql \"insert into deed.migrations select 999, '0999_later', digest, applied_at from "
                + "deed.migrations where number = 1\" 'update deed.format set migration = 999'",
            treatment: "sql 'delete from deed.migrations where number = 999' "
                + lowering("migration = 12")),
        Ailment(
            code: "program_outdated",
            breaking: "sql \"update deed.format set number = 999, program = '9.9.9'\"",
            treatment: "sql " + lowering("number = \(LogFormat.own.number)")),
        Ailment(code: "format_pending", breaking: "sql " + lowering("number = 1")),
        Ailment(
            code: "instance_silent", breaking: "sql \"\(instance(seen: 1000, "{}"))\""),
        Ailment(
            code: "instance_not_ready",
            breaking:
                "sql \"\(instance(seen: nil, "{\\\"reasons\\\":[\\\"The disk is full.\\\"]}"))\"",
            treatment: "sql \"delete from deed.instances where instance = 'i_other'\""),
        Ailment(
            code: "versions_differ",
            breaking: "sql \"\(instance(seen: nil, "{\\\"version\\\":\\\"0.0.1\\\"}"))\"",
            treatment: "sql \"delete from deed.instances where instance = 'i_other'\""),
        Ailment(
            code: "database_impeded",
            breaking:
                "sql \"alter system set synchronous_standby_names = 'nowhere'\" 'select pg_reload_conf()'",
            treatment:
                "sql 'alter system reset synchronous_standby_names' 'select pg_reload_conf()'"),
        Ailment(
            code: "streams_unread",
            breaking: "sql \"\(instance(seen: nil, "{\\\"unread\\\":2}"))\"",
            treatment: "sql \"delete from deed.instances where instance = 'i_other'\""),
    ]

    /// Returns statements that make a change despite the triggers.
    private static func lowering(_ change: String) -> String {
        "'alter table deed.format disable trigger all' 'update deed.format set \(change)' "
            + "'alter table deed.format enable trigger all'"
    }

    /// Returns a statement that adds another instance with this report.
    private static func instance(seen: Int64?, _ says: String) -> String {
        let now = "(extract(epoch from clock_timestamp()) * 1000)::bigint"
        let usual = #"{\"host\":\"elsewhere\",\"listen\":\":8080\",\"version\":\"\#(version)\"}"#
        let at = seen.map { "\(now) - 86400000 + \($0 * 1000)" } ?? "\(now) + 600000"
        return "insert into deed.instances values ('i_other', 1, \(at), "
            + "('\(usual)'::jsonb || '\(says)'::jsonb)::text)"
    }

    private static let version = "$VERSION"

    static let ofProject = [
        Ailment(
            code: "project_unreadable",
            breaking: "sql 'create table public.kept as select * from deed.events' "
                + "'alter table deed.events disable trigger events_only_grow' "
                + "\"update deed.events set payload = '{}' where type = 'project.created'\" "
                + "'alter table deed.events enable always trigger events_only_grow'",
            treatment: "sql 'alter table deed.events disable trigger events_only_grow' "
                + "'update deed.events as e set payload = k.payload from public.kept as k "
                + "where (e.shard, e.seq) = (k.shard, k.seq)' "
                + "'alter table deed.events enable always trigger events_only_grow' "
                + "'drop table public.kept'"),
        Ailment(
            code: "intake_stuck",
            breaking:
                "sql \"insert into deed.intake (id, project, purpose, customer, environment, kind, app, "
                + "digest, evidence, state, tries, next_try_at, added_at, changed_at) values ('i_1', 'default', "
                + "'submit', 'u1', 'production', 'app_receipt', 'com.example.game', "
                + "sha256('x'), 'x', 'waiting', 50, 9000000000000, 1, 1)\"",
            treatment: "deed intake list; deed intake drop i_1 --reason 'no receipt'"),
        Ailment(
            code: "no_key",
            breaking:
                "for k in $(deed key list --json | grep -o 'k_[a-z0-9]*' | sort -u); do deed key revoke $k; done"
        ),
        Ailment(
            code: "no_catalog",
            breaking: "echo '{\"products\":[]}' >none.json; deed catalog apply none.json"),
        Ailment(
            code: "products_without_app",
            breaking: "sed 's/\\[{/[{\"id\":\"g\",\"store\":\"google\",\"kind\":\"non_consumable\","
                + "\"entitlements\":[\"pro\"]},{/' catalog.json >two.json; deed catalog apply two.json",
            treatment: "deed catalog apply catalog.json"),
        Ailment(
            code: "entitlement_without_source",
            breaking:
                "sed 's/^{/{\"entitlements\":{\"vip\":{\"title\":\"VIP\"}},/' catalog.json >vip.json; "
                + "deed catalog apply vip.json",
            treatment: "deed catalog apply catalog.json"),
        Ailment(
            code: "product_unknown",
            breaking:
                "sql \"insert into deed.last_done values ('bought default apple ghost', 1, '{}')\"; "
                + "cp catalog.json before.json; sed 's/\\[{/[{\"id\":\"ghost\",\"kind\":\"non_consumable\","
                + "\"entitlements\":[\"pro\"]},{/' before.json >catalog.json"),
        Ailment(
            code: "app_without_credentials",
            breaking: "deed app set --bundle-id com.example.game --forget-credentials",
            treatment: "sh credentials.sh"),
        Ailment(
            code: "app_without_notifications",
            breaking: "sql \"delete from deed.last_done where what like 'news %'\"",
            treatment:
                "sql \"insert into deed.last_done values ('news default apple com.example.game', 1, '{}')\""
        ),
        Ailment(
            code: "sandbox_for_all",
            breaking: "deed app set --bundle-id com.example.game --sandbox-access all"),
        Ailment(
            code: "store_on_this_machine",
            breaking: "deed app set --bundle-id com.example.game --store-url http://127.0.0.1:9"),
        Ailment(code: "checkpoint_late", breaking: done("checkpoint")),
        Ailment(code: "backup_late", breaking: done("backup")),
        Ailment(code: "backup_untried", breaking: done("backup_tried")),
        Ailment(code: "audit_late", breaking: done("audit")),
    ]

    /// Returns a statement that records a task as last done in 1970.
    private static func done(_ what: String) -> String {
        "sql \"insert into deed.last_done values ('\(what)', 1, '{}') on conflict (what) do update set done_at = 1\""
    }

    static let ofFiles = [
        Ailment(code: "key_open", breaking: "chmod 644 \"$KEY\""),
        Ailment(
            code: "key_malformed",
            breaking: "cp -p \"$KEY\" kept; echo abc >\"$KEY\"; chmod 600 \"$KEY\""),
        Ailment(
            code: "credentials_locked",
            // The previous treatment created a new key, and some data is still sealed with the old one.
            breaking: "rm -f \"$KEY\".damaged"),
        Ailment(
            code: "key_missing", breaking: "sh credentials.sh; rm -f \"$KEY\" \"$KEY\".old.*"),
        Ailment(
            code: "webhook_locked",
            breaking:
                "deed webhook create --url https://8.8.8.8/hook; rm -f \"$KEY\" \"$KEY\".old.*; "
                + "deed secret rotate --lost"),
        Ailment(
            code: "second_factor_locked",
            breaking: "deed person create --email ann@example.com --role admin; "
                + "sql \"insert into deed.second_factors select person, decode(repeat('00', 48), 'hex'), "
                + "decode(repeat('00', 8), 'hex'), 0 from deed.people\""),
        Ailment(code: "key_unreadable", breaking: "chown daemon \"$KEY\"", isOfRoot: true),
        Ailment(
            code: "data_folder_owner", breaking: "chown daemon \"$DEED_DATA_DIR\"", isOfRoot: true),
        Ailment(
            code: "seen_unreadable",
            breaking: "mkdir -p \"$DEED_DATA_DIR/seen\"; touch \"$DEED_DATA_DIR/seen/x\"; "
                + "chown daemon \"$DEED_DATA_DIR/seen/x\"", isOfRoot: true),
        Ailment(
            code: "tls_unreadable", breaking: "mv tls.pem tls.moved",
            treatment: "mv tls.moved tls.pem",
            variables: ["DEED_TLS_CERTIFICATE": "tls.pem", "DEED_TLS_KEY": "tls.key"]),
        Ailment(
            code: "tls_unreadable", breaking: "chown root tls.key; chmod 600 tls.key",
            variables: ["DEED_TLS_CERTIFICATE": "tls.pem", "DEED_TLS_KEY": "tls.key"],
            isOfRoot: true),
        Ailment(
            code: "tls_ends", breaking: "cp tls.pem long.pem; cp tls.key long.key; sh tls.sh 2",
            treatment: "sh tls.sh 365",
            variables: ["DEED_TLS_CERTIFICATE": "tls.pem", "DEED_TLS_KEY": "tls.key"]),
        Ailment(
            code: "extra_roots_unreadable", breaking: "mkdir roots",
            treatment: "cp tls.pem roots/", variables: ["DEED_EXTRA_ROOTS": "roots"]),
        Ailment(
            code: "database_url", breaking: "export DEED_DATABASE_URL=mysql://root@localhost/deed",
            treatment: "unset DEED_DATABASE_URL"),
        Ailment(
            code: "database_unreachable",
            breaking: "export DEED_DATABASE_URL=postgresql://127.0.0.1:1/deed",
            treatment: "unset DEED_DATABASE_URL"),
        Ailment(
            code: "few_descriptors", breaking: "ulimit -Sn 1024; ulimit -Hn 1024"),
    ]
}

extension Finished {
    struct Found {
        let code: String
        let commands: [(place: String, text: String)]
    }

    /// The doctor's findings, from `--json`.
    var findings: [Found] {
        get throws {
            try (json["checks"]?.array ?? []).flatMap { check -> [Found] in
                (check["findings"]?.array ?? []).map { finding in
                    let commands = (finding["commands"]?.array ?? []).map {
                        (place: $0["in"]?.string ?? "", text: $0["text"]?.string ?? "")
                    }
                    return Found(code: check["code"]?.string ?? "", commands: commands)
                }
            }
        }
    }
}
