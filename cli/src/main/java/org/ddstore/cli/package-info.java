/** The command line. */
@Internal
package org.ddstore.cli;

import org.ddstore.types.Internal;
