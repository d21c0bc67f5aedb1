package plugin

// ProtocolVersion is the version of the wire, siteprovider.v1, that host and
// plugin agree on when the plugin starts.
const ProtocolVersion = 1
