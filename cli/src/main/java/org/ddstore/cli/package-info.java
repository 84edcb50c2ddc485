// SPDX-License-Identifier: Apache-2.0
/** The command line. */
@Internal
package org.ddstore.cli;

import org.ddstore.types.Internal;
