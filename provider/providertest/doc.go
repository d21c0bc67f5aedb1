// Package providertest holds the conformance suite that every provider has to
// pass, and Memory, the reference that passes it first.
//
// A backend's whole test is a call of Run with a function that opens an empty
// provider:
//
//	func TestConformance(t *testing.T) {
//		providertest.Run(providertest.Wrap(t), open, providertest.Opt{})
//	}
//
// Each rule of the contract is a subtest with a name of its own, the same
// whether the provider is called directly or through a plugin.
//
// # Any executable
//
// The suite also runs against a plugin, in whatever language it is written.
// Everything after -args is for the suite, and what follows -- are the
// plugin's own arguments, "plugin" where there are none:
//
//	go test ./provider/providertest -args -plugin PATH
//	go test ./provider/providertest -run Conformance/Scope -args -plugin PATH -settings '{"dir":"{dir}"}' -- serve
//
// A failure names the rule in the name of its subtest, and what the provider
// did in its message; -v lists the rules that are kept. The flags are
//
//	-plugin PATH      the executable: an absolute path, because tests run in
//	                  the directory of their package, or a name in PATH
//	-settings JSON    what the provider is configured with; {dir} in it stands
//	                  for a new, empty directory (default {"data":"{dir}"})
//	-env NAME         a variable that the plugin gets besides the usual ones;
//	                  may be repeated
//	-known RULE=WHY   a rule that this provider is known not to keep, such as
//	                  Filter/DatesAreInstants, which is skipped with the reason;
//	                  may be repeated
//	-wipe             delete everything that the provider holds before each
//	                  rule, for one that does not start empty
//
// The plugin is started anew for each rule, and has to start empty: from its
// settings, or because of -wipe.
package providertest
