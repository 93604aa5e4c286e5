internal import COpenSSL

// AES-256-GCM for stored data that must stay hidden from people who can read the database.
extension SecretKey {
    private static let nonceCount = 12
    private static let tagCount = 16

    /// Encrypts data and binds it to a place. Only a call for the same place can decrypt it. Nonces are random, but one
    /// key can still encrypt far more data than an installation will ever store.
    package func seal(_ text: [UInt8], for place: [UInt8]) -> [UInt8] {
        let nonce = randomBytes(SecretKey.nonceCount)
        guard let context = EVP_CIPHER_CTX_new() else {
            preconditionFailure("OpenSSL gives no cipher")
        }
        defer { EVP_CIPHER_CTX_free(context) }
        var count: Int32 = 0
        var sealed = [UInt8](repeating: 0, count: text.count + 16)
        var tag = [UInt8](repeating: 0, count: SecretKey.tagCount)
        let isSealed =
            withBytes { EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, $0, nonce) } == 1
            && EVP_EncryptUpdate(context, nil, &count, place, Int32(clamping: place.count)) == 1
            && EVP_EncryptUpdate(context, &sealed, &count, text, Int32(clamping: text.count)) == 1
            && EVP_EncryptFinal_ex(context, &tag, &count) == 1
            && EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_GCM_GET_TAG, Int32(clamping: tag.count), &tag) == 1
        if !isSealed { preconditionFailure("OpenSSL does not encrypt") }
        return nonce + sealed[..<text.count] + tag
    }

    /// Returns the decrypted text, or `nil` if it was sealed with a different key or for a
    /// different place, or if any bit of it was changed.
    package func open(_ sealed: [UInt8], for place: [UInt8]) -> [UInt8]? {
        let count = sealed.count - SecretKey.nonceCount - SecretKey.tagCount
        guard count >= 0, let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let nonce = Array(sealed.prefix(SecretKey.nonceCount))
        let cipher = Array(sealed.dropFirst(SecretKey.nonceCount).prefix(count))
        var tag = Array(sealed.suffix(SecretKey.tagCount))
        var text = [UInt8](repeating: 0, count: count + 16)
        var written: Int32 = 0
        var rest: Int32 = 0
        let isOpen =
            withBytes { EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, $0, nonce) } == 1
            && EVP_DecryptUpdate(context, nil, &written, place, Int32(clamping: place.count)) == 1
            && EVP_DecryptUpdate(context, &text, &written, cipher, Int32(clamping: count)) == 1
            && EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_GCM_SET_TAG, Int32(clamping: tag.count), &tag) == 1
            && EVP_DecryptFinal_ex(context, &tag, &rest) == 1
        if !isOpen {
            ERR_clear_error()
            return nil
        }
        return Array(text[..<count])
    }

    /// An identifier that distinguishes keys without revealing anything about them.
    package var name: [UInt8] {
        Array(derived(for: "deed key name").authenticate(Array("name".utf8)).bytes.prefix(8))
    }
}
