/// The location of the database, and how a session starts.
package struct ConnectionSettings: Sendable {
    /// The address in libpq's format: a `postgresql://` URL or `keyword=value` pairs.
    package var url: String
    /// The schema with the tables that statements name.
    package var schema = "deed"
    /// The role whose rights the session gets; `nil` to keep the login's rights.
    package var role: String?
    /// The name shown in PostgreSQL's list of sessions.
    package var applicationName: String
    /// The time limit for a statement; 0 for no limit.
    package var statementTimeoutMilliseconds: Int
    /// How long a silent session may hold its locks; 0 for no limit. A process that is working sends something within
    /// milliseconds.
    package var silentLockMilliseconds = 1000
    /// How long the server may stay silent after a statement's time limit.
    var silenceMarginMilliseconds = 1000
    var connectTimeoutSeconds = 5
    /// The pulse that learns when the server falls silent; `nil` if nothing watches for silence.
    package var pulse: Pulse?
    /// How long a statement may wait for a lock; 0 for no separate limit.
    package var lockTimeoutMilliseconds = 0
    /// Whether a server that refuses writes is accepted.
    var isAnyServerTaken = false
    /// How long a plan may be used. A plan depends on the tables' sizes at the time when it was made.
    package var planLifetimeMilliseconds: Int64 = 10_000

    package init(
        url: String, role: String?, applicationName: String = "deed",
        statementTimeoutMilliseconds: Int = 4000
    ) {
        self.url = url
        self.role = role
        self.applicationName = applicationName
        self.statementTimeoutMilliseconds = statementTimeoutMilliseconds
    }

    /// Whether the URL has several addresses. The most recently promoted server is then used.
    package var namesSeveralServers: Bool { Addresses(self) != nil }

    /// The settings for queries that PostgreSQL answers either immediately or not at all.
    package var forLooking: ConnectionSettings {
        var settings = self
        settings.statementTimeoutMilliseconds = 800
        settings.silenceMarginMilliseconds = 200
        settings.connectTimeoutSeconds = 2
        return settings
    }

    /// A working server ends a statement when its time limit has passed. A server that stays silent for longer has
    /// hung.
    var silenceLimitMilliseconds: Int64? {
        if statementTimeoutMilliseconds == 0 { return nil }
        return Int64(statementTimeoutMilliseconds + silenceMarginMilliseconds)
    }

    /// The URL overrides all parameters except the encoding, on which decoding depends. Of several
    /// servers, a writable one is chosen, because a standby may lag behind acknowledged commits.
    var parameters: [(name: String, value: String)] {
        [
            ("connect_timeout", String(connectTimeoutSeconds)), ("keepalives_idle", "15"),
            ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "30000"),
            ("fallback_application_name", applicationName),
            ("target_session_attrs", "primary"), ("dbname", url),
            ("client_encoding", "UTF8"),
        ] + (isAnyServerTaken ? [("target_session_attrs", "any")] : [])
    }

    var sessionCalls: [Call] {
        let timeout = statementTimeoutMilliseconds
        var settings = [
            ("search_path", "pg_catalog"),
            // All statements of the service find their rows by an index. A plan for a small table
            // must not keep reading the whole table after it has grown.
            ("enable_seqscan", "off"),
            // Statements are small, and compiling one takes far longer than running it. Without this setting, a
            // statement without an index looks so expensive that it is compiled every time.
            ("jit", "off"),
            // For a call with few rows, PostgreSQL would otherwise plan the statement again, which takes several times
            // as long as running the existing plan.
            ("plan_cache_mode", "force_generic_plan"),
            ("statement_timeout", String(timeout)),
            // A process that is suspended during a commit must not hold its locks forever.
            (
                "idle_in_transaction_session_timeout",
                String(timeout == 0 ? 0 : silentLockMilliseconds)
            ),
        ]
        if lockTimeoutMilliseconds > 0 {
            settings.append(("lock_timeout", String(lockTimeoutMilliseconds)))
        }
        if let role { settings.append(("role", role)) }
        return [ConnectionSettings.durable()]
            + settings.map { ConnectionSettings.set(.text($0), .text($1)) }
    }

    /// Answers are sent after the commit, so a commit must not return before it is durable.
    private static let durable = Statement(
        """
        select set_config('synchronous_commit', 'on', false)
        where current_setting('synchronous_commit') = 'off'
        """)
    private static let set = Statement("select set_config($1, $2, false)")
    /// Settings for a transaction in which a live process may pause between statements.
    package static let slowTransaction = Statement(
        """
        select set_config(
            'idle_in_transaction_session_timeout', current_setting('statement_timeout'), true)
        """)
    /// Settings for a transaction that can skip locked rows and continue with others.
    package static let impatientTransaction = Statement(
        "select set_config('lock_timeout', $1, true)")
    /// Settings for a transaction whose statements have the given time limit, in milliseconds.
    package static let quickTransaction = Statement(
        "select set_config('statement_timeout', $1, true)")
    /// Settings for a transaction that does not wait for the disk. A server crash may lose it, but
    /// only together with all later commits.
    package static let losableTransaction = Statement(
        "select set_config('synchronous_commit', 'off', true)")
}
