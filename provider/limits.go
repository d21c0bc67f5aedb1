package provider

// Limits of the contract. Going over one is an error that matches ErrInvalid
// and names the limit and the value.
const (
	MaxURLBytes    = 8 << 10  // of a document's URL
	MaxSiteBytes   = 4 << 10  // of a site's name
	MaxQueryBytes  = 16 << 10 // of Query.Text
	MaxObjectBytes = 4 << 20  // of Document.Schema, and of Document.Text
	MaxNameBytes   = 64 << 10 // of Document.Name
	MaxTypes       = 64       // entries of Document.Types
	MaxTypeBytes   = 1 << 10  // of one of Document.Types, and of Document.Language
	MaxJSONDepth   = 200      // nesting of Document.Schema; 1 is a flat object

	MaxBatchDocuments = 1000     // of one Put
	MaxBatchBytes     = 12 << 20 // of one Put: the sum of Document.Size

	DefaultLimit = 50   // hits when Query.Limit is 0
	MaxLimit     = 1000 // of Query.Limit and ListQuery.Limit
	MaxURLs      = 1000 // of Lookup.URLs and Selector.URLs
	MaxSites     = 1000 // of a Scope

	MaxConditions      = 64       // of a Filter
	MaxConditionPath   = 1 << 10  // bytes of Condition.Path
	MaxConditionValues = 1000     // of one "in" condition
	MaxConditionValue  = 16 << 10 // bytes of one text value

	MaxPassageBytes = 1 << 10  // of Hit.Passage
	MaxReplyBytes   = 12 << 20 // of the schemas of one Result; see Result.Fit
	MaxMessageBytes = 16 << 20 // of one message between host and plugin
)
