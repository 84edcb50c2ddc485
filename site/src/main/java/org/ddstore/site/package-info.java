// SPDX-License-Identifier: Apache-2.0
/**
 * The command {@code docs}: renders the pages of the project and its Javadoc as one static site,
 * and checks the links between them.
 */
@Internal
package org.ddstore.site;

import org.ddstore.types.Internal;
