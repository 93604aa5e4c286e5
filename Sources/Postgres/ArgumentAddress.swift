internal import CPostgres

extension ConnectionSettings {
    /// The address without its password, and the password, for a program that takes the address as an argument. Every
    /// user can see arguments, so the program must get the password in another way.
    package var forArgument: (address: String, password: String?) {
        // What libpq cannot read as a connection string is the name of a database.
        guard let options = PQconninfoParse(url, nil) else { return (url, nil) }
        var parameters = Addresses.taken(options)
        guard let password = parameters.removeValue(forKey: "password") else { return (url, nil) }
        let pairs = parameters.sorted { $0.key < $1.key }.map { name, value in
            "\(name)='\(ConnectionSettings.escaped(value))'"
        }
        return (pairs.joined(separator: " "), password)
    }

    /// Escapes Unicode scalars, because libpq reads bytes: a quote with an accent is still a quote.
    private static func escaped(_ value: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            if scalar == "'" || scalar == "\\" { text.append("\\") }
            text.append(scalar)
        }
        return String(text)
    }
}
