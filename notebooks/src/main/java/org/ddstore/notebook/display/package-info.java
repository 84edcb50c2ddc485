// SPDX-License-Identifier: Apache-2.0
/** Values as text, HTML and images. */
@Internal
package org.ddstore.notebook.display;

import org.ddstore.types.Internal;
