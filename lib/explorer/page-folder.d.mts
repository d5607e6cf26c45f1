export declare const pageFolder: string;
