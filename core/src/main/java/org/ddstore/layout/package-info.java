/** Index arithmetic: which rank and which byte hold a row. No I/O. */
@Internal
package org.ddstore.layout;

import org.ddstore.types.Internal;
